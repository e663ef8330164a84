"""Weights that quantization rounds, for the library's configurations."""

from transformers import OPTConfig, OPTForCausalLM

from weebill.generation.quantizable import quantizable


def test_embeddings_that_compute_otherwise_stay_as_they_are():
    """OPT computes positions from the attention mask, which an int8 embedding does not do."""
    sizes = {"vocab_size": 9, "hidden_size": 8, "ffn_dim": 8, "max_position_embeddings": 9}
    config = OPTConfig(num_hidden_layers=1, num_attention_heads=2, word_embed_proj_dim=8, **sizes)
    found = dict(quantizable(OPTForCausalLM(config)))
    assert "model.decoder.embed_tokens" in found
    assert "model.decoder.embed_positions" not in found
