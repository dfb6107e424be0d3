"""Writes what transformers computes for a checkpoint, for `kvad arch verify FOLDER` and the conformance kit.

    pip install torch transformers safetensors
    python make-reference.py FOLDER      # config.json and *.safetensors; writes reference.safetensors and reference.json
"""
import json, sys, torch, transformers
from safetensors.torch import save_file

folder = sys.argv[1]
load = transformers.AutoModelForCausalLM.from_pretrained
model = load(folder, dtype=torch.float32, attn_implementation="eager", trust_remote_code=False).eval()
ids = torch.randint(0, model.config.get_text_config().vocab_size, (51,), generator=torch.Generator().manual_seed(1))
long, short = ids[:45], ids[45:]
with torch.no_grad():
    logits, short_logits = (model(part[None], use_cache=False).logits[0].float() for part in (long, short))
    greedy = short
    for _ in range(12):
        greedy = torch.cat([greedy, model(greedy[None], use_cache=False).logits[0, -1:].argmax(-1)])
tensors = {"input_ids": long, "logits": logits, "short_ids": short, "short_logits": short_logits, "greedy_ids": greedy[6:]}
save_file({name: tensor.clone().contiguous() for name, tensor in tensors.items()}, f"{folder}/reference.safetensors")
std = logits.std().item()
made_by = f"transformers {transformers.__version__}, torch {torch.__version__}, eager attention, float32"
facts = {"model_type": model.config.model_type, "made_by": made_by, "logits_std": std, "tolerance": 2e-4 * max(1, std)}
json.dump(facts, open(f"{folder}/reference.json", "w"), indent=1)
