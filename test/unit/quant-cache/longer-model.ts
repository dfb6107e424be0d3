import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { writeSafetensors, readTensors, type TensorBytes } from '@kvad/core/testing';

/** A copy of the bundled model with its layers repeated up to so many: small enough for a test, long enough to be killed. */
export const longerModel = (folder: string, layers: number): void => {
  cpSync('cli/model', folder, { recursive: true });
  const file = path.join(folder, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { num_hidden_layers: number };
  const had = config.num_hidden_layers;
  writeFileSync(file, JSON.stringify({ ...config, num_hidden_layers: layers }));
  const weights = path.join(folder, 'model.safetensors');
  const tensors: Record<string, TensorBytes> = {};
  for (const [name, tensor] of readTensors(weights)) {
    const layer = /\.layers\.(\d+)\./.exec(name)?.[1];
    if (layer === undefined) tensors[name] = tensor;
    for (let i = Number(layer); i < layers; i += had)
      tensors[name.replace(/\.layers\.\d+\./, `.layers.${i}.`)] = tensor;
  }
  writeSafetensors(weights, tensors);
};
