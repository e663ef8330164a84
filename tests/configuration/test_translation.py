"""Mistakes in students, pruning, precisions and report: the full error lines."""

from tests.configuration.changes import each_case
from tests.small_experiment import SHAPE

# name: (changes of a valid experiment, removed keys, expected lines)
CASES = {
    "exports": (
        {
            "students": ["small", "big", "odd"],
            "exports": {
                "ctranslate2": ["*/unpruned/int8", "big/pushy/float32"],
                "marian": ["odd/unpruned/float32", "small/pushy/int8"],
                "firefox": ["small/unpruned/float32", "big/unpruned/int8"],
                "onnx": ["smal/*/*"],
            },
        },
        [],
        [
            "exports.ctranslate2[0]: found 'small/unpruned/int8', expected a student with a "
            "self-attention decoder; CTranslate2 has no SSRU",
            "exports.ctranslate2[0]: found 'odd/unpruned/int8', expected a student with a "
            "self-attention decoder; CTranslate2 has no SSRU",
            "exports.ctranslate2[1]: found 'big/pushy/float32', expected an unpruned student; "
            "CTranslate2 wants as many heads in every layer",
            "exports.marian[0]: found 'odd/unpruned/float32', expected heads that divide the embedding; "
            "Marian cannot hold heads of 3",
            "exports.firefox[0]: found 'small/unpruned/float32', expected the precision int8 or "
            "int8-finetuned, which Firefox's students have",
            "exports.firefox[1]: found 'big/unpruned/int8', expected an embedding width that is a "
            "multiple of 64, which Firefox's engine wants",
            "exports.onnx[0]: no student 'smal' in students; did you mean 'small'?",
        ],
    ),
    "exports of shapes that Marian lacks": (
        {
            "architectures": {
                "wide": {**SHAPE, "attention_width": 16},
                "even": {**SHAPE, "embedding": 64, "attention_width": 64},
            },
            "students": ["wide", "even"],
            "vocabulary": {"size": 501},
            "exports": {"marian": ["*/unpruned/float32"], "firefox": ["even/*/int8"]},
        },
        [],
        [
            "exports.marian[0]: found 'wide/unpruned/float32', expected an attention_width up to the embedding "
            "width, which Marian's heads have together",
            *(
                f"exports.firefox[0]: found 'even/{recipe}/int8', expected a vocabulary of a multiple of 8 pieces, "
                "not 501, for Firefox's engine"
                for recipe in ("unpruned", "pushy")
            ),
        ],
    ),
    "unknown and unfit students": (
        {"students": ["smal", "small", "thin", "trio"], "teacher": {"architecture": "bigg"}},
        [],
        [
            "teacher.architecture: no model 'bigg' in config/models.yaml; did you mean 'big'?",
            "students[0]: no model 'smal' in config/models.yaml; did you mean 'small'?",
            "students[3]: found 'trio', an ensemble, expected a single model",
        ],
    ),
    "a student with the teacher's name": (
        {"architectures": {"teacher": SHAPE}, "students": ["teacher", "teacher~2"]},
        [],
        [
            f"students[{number}]: found '{name}', expected another name for the architecture: results of the "
            "teacher have this one"
            for number, name in enumerate(["teacher", "teacher~2"])
        ],
    ),
    "recipe and precision not configured": (
        {
            "variants": [
                "small/pushi/*",
                "tiny/unpruned/*",
                "thin*/x*/int9",
                "*/*/log4-finetuned",
                "*/*/*-finetuned",
            ]
        },
        [],
        [
            "variants[0]: no recipe 'pushi' in pruning; did you mean 'pushy'?",
            "variants[1]: no student 'tiny' in students; did you mean 'thin'?",
            "variants[2]: no recipe matches 'x*', expected one of unpruned, pushy",
            "variants[2]: no precision 'int9' in quantization; did you mean 'int8'?",
            "variants[3]: precision 'log4-finetuned' has no settings, expected the key "
            "quantization.log4.finetune",
        ],
    ),
    "precision without its grid": (
        {"variants": ["small/unpruned/int8"], "pruning": {}},
        ["quantization"],
        ["variants[0]: precision 'int8' has no settings, expected the key quantization.int8"],
    ),
    "the other activation scale": (
        {
            "variants": [
                "*/*/int8-mean-of-scales",
                "*/*/int8-mean-of-maxima",
                "*/*/int8_rowwise",
                "*/*/log4-biases",
            ],
            "pruning": {},
        },
        [],
        [
            "variants[0]: precision 'int8-mean-of-scales' has no settings, expected the key "
            "quantization.int8.compare_activation_scales",
            "variants[1]: precision 'int8-mean-of-maxima' is 'int8' here, as "
            "quantization.int8.activation_scale is 'mean-of-maxima'",
            "variants[2]: precision 'int8_rowwise' has no settings, expected the key "
            "quantization.int8_rowwise",
            "variants[3]: precision 'log4-biases' has no settings, expected the key "
            "quantization.log4.compare_biases",
        ],
    ),
    "more heads than there are": (
        {
            "pruning": {
                "pushy": {"iterations": 4},
                **{
                    name: {"method": "late-reset", "heads_per_iteration": 1, "iterations": 1}
                    for name in ("unpruned", "beam-6")
                },
            }
        },
        [],
        [
            "pruning.unpruned: found a recipe of this name, expected another: it stands for the student "
            "as trained",
            "pruning.beam-6: found a recipe of this name, expected another: it stands for the student "
            "with this search",
            "pruning.pushy: found 2 heads x 4 iterations = 8, expected at most 4, the heads of 'thin' "
            "in encoder.*",
        ],
    ),
    "blocks that do not fit": (
        {
            "students": ["small"],
            "pruning": {
                "pushy": {"blocks": "*"},
                "none": {"method": "group-lasso", "blocks": "encoder.7.*"},
                "heads": {"method": "one-shot", "heads": 0.5, "blocks": "*.feed_forward"},
                "neurons": {"method": "movement", "blocks": "encoder.*.self_attention"},
            },
        },
        [],
        [
            "pruning.pushy.blocks: found '*' for criterion confidence, expected encoder blocks alone, as "
            "decoder.0.cross_attention is not observed",
            "pruning.none.blocks: found 'encoder.7.*', expected a pattern that matches attention or "
            "feed-forward blocks of 'small'",
            "pruning.heads.blocks: found '*.feed_forward', expected a pattern that matches attention "
            "blocks of 'small'",
            "pruning.neurons.blocks: found 'encoder.*.self_attention', expected a pattern that matches "
            "feed-forward blocks of 'small'",
        ],
    ),
    "shares that nothing can lose": (
        {
            "pruning": {
                "much": {"method": "one-shot", "heads": 1.5},
                "less": {"method": "movement", "neurons": -0.1, "reached_at": 0},
                "sparse": {"method": "group-lasso", "groups": "column", "strength": 0},
            }
        },
        [],
        [
            "pruning.much.heads: found 1.5, expected at most 1",
            "pruning.less.neurons: found -0.1, expected at least 0",
            "pruning.less.reached_at: found 0, expected more than 0",
            "pruning.sparse.groups: found 'column', expected one of rowcol, head",
            "pruning.sparse.strength: found 0, expected more than 0",
        ],
    ),
    "shares that come to nothing": (
        {
            "students": ["small"],
            "pruning": {
                "none": {"method": "one-shot"},
                "little": {"method": "movement", "heads": 0.2, "neurons": 0.05},
            },
        },
        [],
        [
            "pruning.none: found shares that come to no head and no neuron of 'small', expected more",
            "pruning.little: found shares that come to no head and no neuron of 'small', expected more",
        ],
    ),
    "a decoder that sees no source": (
        {
            "students": ["small"],
            "pruning": {
                "blind": {"method": "one-shot", "heads": 1.0, "blocks": "*"},
                "layers": {
                    "method": "one-shot",
                    "heads": 1.0,
                    "blocks": "decoder.*",
                    "ranking": "layer",
                },
                "pushy": {"iterations": 8, "blocks": "*", "criterion": "random"},
                "most": {"method": "late-reset", "heads_per_iteration": 7, "iterations": 2},
            },
            "variants": ["small/[!m]*/float32"],
        },
        [],
        [
            "pruning.pushy: found 2 heads x 8 iterations = 16, expected at most 14, which leave each "
            "cross-attention of 'small' a head: without any a decoder sees nothing of the source",
            "pruning.blind: found 16 heads, expected at most 14, which leave each cross-attention of "
            "'small' a head: without any a decoder sees nothing of the source",
            "pruning.layers: found 8 heads, expected at most 6, which leave each cross-attention of "
            "'small' a head: without any a decoder sees nothing of the source",
        ],
    ),
    "a criterion of heads for neurons": (
        {"pruning": {"one": {"method": "one-shot", "criterion": "confidence", "neurons": 0.5}}},
        [],
        [
            "pruning.one.criterion: found confidence with neurons, expected another: it scores heads, "
            "not neurons"
        ],
    ),
    "more layers than there are": (
        {
            "pruning": {
                "top": {"method": "depth", "layers": 2},
                "decoder": {"method": "depth", "layers": 3, "stack": "decoder"},
            },
            "variants": ["small/*/float32"],
        },
        [],
        [
            "pruning.top.layers: found 2, expected less than 2, the encoder's of 'small'",
            "pruning.decoder.layers: found 3, expected less than 2, the decoder's of 'small'",
        ],
    ),
    "shapes that no recipe makes": (
        {
            "pruning": {
                "one": {"method": "from-scratch", "like": "pushi"},
                "two": {"method": "from-scratch", "like": "one"},
                "three": {"method": "from-scratch", "like": "unpruned"},
                "four": {"method": "from-scratch"},
            },
        },
        [],
        ["pruning.four.like: missing, expected a name of at most 64 letters, digits and . _ -"],
    ),
    "shapes that no recipe makes, all given": (
        {
            "pruning": {
                "one": {"method": "from-scratch", "like": "pushi"},
                "two": {"method": "from-scratch", "like": "one"},
                "three": {"method": "from-scratch", "like": "unpruned"},
            },
        },
        [],
        [
            "pruning.one.like: no recipe 'pushi' in pruning; did you mean 'pushy'?",
            "pruning.two.like: found 'one', which prunes nothing itself, expected a recipe that does",
            "pruning.three.like: no recipe 'unpruned' in pruning",
        ],
    ),
    "a shape that this student cannot have": (
        {
            "pruning": {
                "pushy": {"iterations": 4},
                "anew": {"method": "from-scratch", "like": "pushy"},
            },
            "variants": ["small/pushy/float32", "thin/anew/int8"],
        },
        [],
        [
            "pruning.pushy: found 2 heads x 4 iterations = 8, expected at most 4, the heads of 'thin' "
            "in encoder.*",
        ],
    ),
    "reset after the end of training": (
        {
            "training": {"updates": 200, "warmup": 20, "validate_every": 1},
            "pruning": {
                "lasso": {"method": "group-lasso", "reset_to": 100, "regularise_updates": 100},
                "movement": {"method": "movement", "reset_to": 150, "prune_updates": 60},
                "fits": {"method": "movement", "reset_to": 150, "prune_updates": 49},
            },
        },
        [],
        [
            "pruning.pushy.reset_to: found 25000, expected less than training.updates 200, which count "
            "from the start",
            "pruning.lasso.regularise_updates: found 100 after reset_to 100, expected together less than "
            "training.updates 200, whose last train what is left",
            "pruning.movement.prune_updates: found 60 after reset_to 150, expected together less than "
            "training.updates 200, whose last train what is left",
        ],
    ),
    "report": (
        {
            "report": {
                "columns": {"wngt20": {"bleu_wmt19": ["news", "nwes"]}},
                "rows": {"smal": {"wngt20": "paper.8k"}, "teacher": {"wngt20": "paper"}},
            }
        },
        [],
        [
            "report.columns.wngt20.bleu_wmt19[1]: no test set 'nwes' in test_sets; did you mean 'news'?",
            "report.rows.smal: no student 'smal' in students; did you mean 'small'?",
            "report.rows.teacher.wngt20: no row 'paper' in table 1 of wngt20; did you mean 'paper.8k'?",
        ],
    ),
}


@each_case(CASES)
def test_lines(faults, changes, without, expected):
    assert faults(changes, without) == expected
