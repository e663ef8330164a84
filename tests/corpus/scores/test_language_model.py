"""Cross-entropy, compared with KenLM's own word scores and a model counted by hand; KenLM's programs."""

import math
import subprocess

import pytest

from weebill.configuration.resources import model_expansion
from weebill.corpus.scores.language_model import _program, cross_entropy, estimate, tokens
from weebill.corpus.tatoeba import read_pairs
from weebill.errors import InputError

kenlm = pytest.importorskip("kenlm", reason="the module kenlm is not here; run `make setup`")
LINES = [
    f"{who} {does} the {what} ."
    for who in ("the cat", "A child", "my friend")
    for does in ("sees", "hears", "likes")
    for what in ("tree", "house", "old song")
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Train a trigram model on LINES."""
    path = tmp_path_factory.mktemp("lm") / "lm.klm"
    try:
        estimate(LINES, path, order=3, memory="50M")
    except InputError as error:
        if "is not here" in str(error):
            pytest.skip(str(error))
        raise
    return path


def test_tokens():
    assert tokens("The house, isn't 3.5 m!") == "the house , isn ' t 3 . 5 m !"
    assert tokens(" \t ") == ""


def test_is_the_librarys_full_score(model):
    """Bits per word, counting the end, come from the sum of decimal logarithms of all words and </s>."""
    library = kenlm.Model(str(model))
    lines = ["The cat sees the tree.", "a zebra!", "the the the the the", ""]
    for line, found in zip(lines, cross_entropy(model)(lines), strict=True):
        logs = [score for score, _, _ in library.full_scores(tokens(line), bos=True, eos=True)]
        assert len(logs) == len(tokens(line).split()) + 1
        assert found == pytest.approx(-sum(logs) / len(logs) / math.log10(2), rel=1e-6)


def test_the_model_is_a_distribution_of_its_words(model):
    """Probabilities of all continuations of a history (words, end, unknown word) sum to 1."""
    library = kenlm.Model(str(model))
    words = {word for line in LINES for word in tokens(line).split()}
    for history in (["<s>"], ["the", "cat"], ["zebra"]):
        state, after = kenlm.State(), kenlm.State()
        library.BeginSentenceWrite(state) if history == ["<s>"] else library.NullContextWrite(state)
        for word in history if history != ["<s>"] else []:
            library.BaseScore(state, word, after)
            state, after = after, kenlm.State()
        total = sum(
            10 ** library.BaseScore(state, word, kenlm.State())
            for word in [*words, "</s>", "neverseen"]
        )
        assert total == pytest.approx(1, abs=1e-4)


def test_seen_text_is_likelier_than_its_words_in_disorder(model):
    good, disorder, foreign = cross_entropy(model)(
        ["my friend likes the old song .", "song . old the likes friend my", "Klicken Sie hier ."]
    )
    assert good < disorder and good < foreign


def test_equal_text_makes_equal_bytes(model, tmp_path):
    estimate(LINES, tmp_path / "again.klm", order=3, memory="50M")
    assert (tmp_path / "again.klm").read_bytes() == model.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["again.klm"]


def test_symbols_of_the_model_are_ordinary_text(model, tmp_path):
    """Text may contain <s>, </s> and <unk>, although lmplz refuses them."""
    estimate([*LINES, "<s> a </s> <unk>"], tmp_path / "lm.klm", order=3, memory="50M")
    assert (tmp_path / "lm.klm").is_file()


def test_no_text_and_no_model(model, tmp_path):
    with pytest.raises(InputError, match="no text to estimate"):
        estimate([" "], tmp_path / "lm.klm", order=3, memory="50M")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "bad").write_text("no model")
    for path, message in ((tmp_path / "bad", "not a model of KenLM"), (tmp_path / "x", "no such")):
        with pytest.raises(InputError, match=message):
            cross_entropy(path)


def test_a_program_that_fails_is_told_in_its_words(model, tmp_path):
    """build_binary refuses longer n-grams than it was compiled for, and our error quotes its message."""
    with pytest.raises(InputError, match=r"build_binary ended with code 1: .*order"):
        estimate(LINES, tmp_path / "lm.klm", order=12, memory="50M")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_job_left_is_removed(model, tmp_path):
    (tmp_path / "lm.klm.work").mkdir()
    (tmp_path / "lm.klm.work/model.arpa").write_text("half")
    estimate(LINES, tmp_path / "lm.klm", order=3, memory="50M")
    assert (tmp_path / "lm.klm").read_bytes() == model.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["lm.klm"]


def test_pruning_leaves_out_what_occurs_once(tmp_path):
    once = "a rare bird sings"
    sizes = {}
    for name, prune in (("whole", (0,)), ("pruned", (0, 0, 1))):
        estimate([*LINES * 2, once], tmp_path / name, order=3, memory="50M", prune=prune)
        sizes[name] = kenlm.Model(str(tmp_path / name))
    # Length of the longest known n-gram at each word: trigrams of the rare line are pruned, its bigrams stay.
    lengths = {
        name: [length for _, length, _ in model.full_scores(once)] for name, model in sizes.items()
    }
    assert max(lengths["whole"]) == 3 and max(lengths["pruned"]) == 2
    often = tokens(LINES[0])
    assert max(length for _, length, _ in sizes["pruned"].full_scores(often)) == 3


def test_quantization_makes_a_smaller_model_of_nearly_equal_scores(tmp_path):
    text = [english for english, _ in read_pairs(3000)]
    for name, quantized in (("whole", False), ("small", True)):
        estimate(text, tmp_path / name, order=3, memory="50M", quantized=quantized)
    sizes = [(tmp_path / name).stat().st_size for name in ("small", "whole")]
    assert sizes[0] < sizes[1]
    whole, small = (cross_entropy(tmp_path / name)(text[:200]) for name in ("whole", "small"))
    assert abs(small - whole).mean() < 0.03


def test_models_of_real_text_are_no_larger_than_their_memory_is_estimated(model, tmp_path):
    """KenLM's default, a table of hashes, takes more than twice the trie's bytes."""
    lines = [source for source, _ in read_pairs()]
    text = sum(len(line.encode()) + 1 for line in lines)
    for prune, quantized in (((0,), False), ((0,), True), ((0, 0, 1), False)):
        estimate(lines, tmp_path / "lm", 5, "100M", prune, quantized)
        size = (tmp_path / "lm").stat().st_size
        most = text * model_expansion({"prune": prune, "quantized": quantized})
        assert most / 2 < size < most
        if not quantized and not any(prune):
            whole = size
    command = [_program("lmplz"), "-o", "5", "-S", "100M", "--arpa", tmp_path / "arpa"]
    words = "\n".join(map(tokens, lines)).encode()
    subprocess.run(command, input=words, check=True, capture_output=True)
    command = [_program("build_binary"), "probing", tmp_path / "arpa", tmp_path / "hashes"]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "hashes").stat().st_size > 2 * whole
