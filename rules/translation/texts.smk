"""Which tables of text the stages hand on: cleaned, scored, translated back, distilled."""


def cleaning_of(corpus):
    """The section `cleaning` as it holds for one corpus."""
    return section_of(config, corpus, "cleaning")


def selected(corpora):
    """The corpora as all that follows the cleaning reads them: after the scores, where they have some."""
    return [
        CORPORA
        / name
        / ("selected" if scores_of(config, name, "cleaning") else "cleaned")
        for name in corpora
    ]


def score_tables(folder, stage):
    """The tables of a corpus' scores at a stage, in the order in which they drop rows."""

    def tables(wildcards):
        names = scores_of(config, wildcards.corpus, stage)
        return [folder / wildcards.corpus / "scores" / name for name in names]

    return tables


def scored_text(wildcards):
    """The rows of a corpus, of a translated corpus, or of labelled or damaged pairs, which scores are of."""
    form = {
        "corpora": "cleaned",
        "back_translated": "merged.parquet",
        "distilled": "merged.parquet",
        "scoring": "pairs.parquet",
    }
    return RESULTS / wildcards.scored / form[wildcards.scored.split("/")[0]]


def scores_before(corpus):
    """The names of the scores that a corpus has before bicleaner's; a reverse model is trained meanwhile."""
    names = scores_of(config, corpus, "cleaning")
    later = ("bicleaner", "reverse_model", "combined")
    return [name for name in names if name not in later]


def cleaning_stages():
    """The stages of the cleaning that the experiment has, of whose text students are trained."""
    scores = config["cleaning"]["scores"]
    weighted = scores.get("reverse_model", {}).get("weight_scale")
    there = {"none": True, "rules": True, "scores": scores, "weights": weighted}
    return [stage for stage in STAGES if there[stage]]


def damaged():
    """List the corpora into which damage is injected."""
    return [name for name, entry in config["corpora"].items() if "noise" in entry]


def language_model_text(wildcards):
    """What a language model is estimated on: the configuration's own text, or the cleaned corpora."""
    own = config["scoring"]["language_model"].get(f"{wildcards.side}_text")
    if own is not None:
        return present(own)
    kind = "forward" if wildcards.side == "source" else "backward"
    names = [*PARALLEL, *corpora_of(config, kind)]
    return [CORPORA / name / "cleaned" for name in names]


def lexical_translation_text(wildcards):
    """What words' translations are counted in: the configuration's own text, or the cleaned parallel corpora."""
    own = config["scoring"]["lexical_translation"]
    if "source_text" in own:
        return {side: present(own[f"{side}_text"]) for side in ("source", "target")}
    return {"corpora": expand(CORPORA / "{name}/cleaned", name=PARALLEL)}


def translated(folder, corpora, stage):
    """The translations of corpora, after the scores of the stage, where it has some."""
    name = "selected" if config[stage]["scores"] else "merged"
    return [folder / corpus / f"{name}.parquet" for corpus in corpora]


def back_translated(corpora):
    """Target-side corpora with the reverse teacher's translations as their sources."""
    return translated(BACK_TRANSLATED, corpora, "back_translation")


def teacher_back_translations():
    """The back-translated text that the teacher learns."""
    if not config["teacher"]["back_translated"]:
        return []
    return back_translated(corpora_of(config, "backward"))


def reversible():
    """The parallel corpora as reverse models learn them; one that is asked to score them cannot wait for its scores."""
    scores = config["cleaning"]["scores"]
    if SCORER or "reverse_model" in scores:
        return expand(CORPORA / "{corpus}/cleaned", corpus=PARALLEL)
    return selected(PARALLEL)


def distillable(corpora):
    """What the teacher translates of each corpus: its source side, or the back-translation of its target side."""
    return [
        table
        for name in corpora
        for table in (
            back_translated([name])
            if name in corpora_of(config, "backward")
            else selected([name])
        )
    ]


def texts_of(kind):
    """The tables of one kind of training text."""
    corpora = corpora_of(config, kind)
    if kind == "backward":
        return back_translated(corpora)
    return translated(DISTILLED, corpora, "distillation")


def joined(suffix):
    """The tables of a training text, "@NAME" or "" for the first."""
    texts = training_texts(config)
    name = suffix.removeprefix("@") or next(iter(texts))
    if name not in texts:
        stop(
            f"{CONFIG_FILE}: distillation.training_texts: has no '{name}', but {', '.join(texts)}"
        )
    return [table for kind in texts[name] for table in texts_of(kind)]


def training_text(wildcards):
    """The table that a student is trained on: the first training text, or the one in its name."""
    text = text_of(wildcards.student)
    suffix = f"@{text}" if text else ""
    if config["training"]["guided_alignment"]:
        pieces = vocabulary_of(wildcards.student, ALIGNED)
        return [pieces.with_name(f"training{suffix}.parquet")]
    return [student_text(suffix)]


def student_text(suffix=""):
    """A training text, "@NAME" or "" for the first, with the rows that augmentation adds."""
    augmented = "augmentation" in config["distillation"]
    return DISTILLED / f"{'augmented' if augmented else 'training'}{suffix}.parquet"


def scored_translations():
    """Translated corpora of which scores drop rows too, by what the report calls them."""
    found = {}
    for kind in learnt_kinds(config):
        stage = "back_translation" if kind == "backward" else "distillation"
        word = "translated back" if kind == "backward" else "distilled"
        if config[stage]["scores"]:
            names = [f"{name}, {word}" for name in corpora_of(config, kind)]
            found |= dict(zip(names, texts_of(kind)))
    return found
