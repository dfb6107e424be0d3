import { unneeded, type NestedConfig } from '@kvad/core/plugin';

const IMAGES = 'only images and videos use it';

/** A model of text and images, of which only the text is run. */
export const textOfWrapper: NestedConfig = {
  key: 'text_config',
  inert: {
    vision_config: IMAGES,
    image_token_id: IMAGES,
    video_token_id: IMAGES,
    vision_start_token_id: IMAGES,
    vision_end_token_id: IMAGES,
    language_model_only: 'the image encoder is never run',
  },
  owns: { tie_word_embeddings: false },
};

/** Where the text model's tensors lie in a file of its own, and in a wrapper's. */
export const TEXT_PREFIXES = ['model.language_model.', 'model.', ''] as const;

export const imageEncoder = unneeded('model.visual.*', 'the image encoder is not run');
