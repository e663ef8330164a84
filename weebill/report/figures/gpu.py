"""Figure of the speeds on a GPU by mini-batch size."""

import altair as alt
import pandas as pd

from weebill.report.figures import colors, style
from weebill.report.lookups import translation as lookup
from weebill.report.results import Results

COLUMNS = ["variant", "numbers", "shortlist", "batch", "words", "slowest", "fastest", "bleu"]


def speed_by_batch(results: Results) -> alt.TopLevelMixin:
    """Draw words per second by sentences in a batch, with a panel for each variant and a line for each setting."""
    rows = pd.DataFrame(
        [
            (
                one.variant,
                one.numbers,
                "yes" if one.shortlist else "no",
                one.batch_size,
                one.words_per_second,
                one.words / max(one.seconds),
                one.words / min(one.seconds),
                lookup.mean_timed_bleu(one) or "not measured",
            )
            for one in lookup.timed_on_gpu(results)
        ],
        columns=COLUMNS,  # needed if no batch was timed, or none fitted into memory
    )
    log = alt.Scale(type="log", nice=False)
    scale = colors.number_colors(rows["numbers"])
    base = alt.Chart(rows).encode(
        x=alt.X("batch:Q", title="sentences in a batch (log)", scale=log, axis=style.integers()),
        color=alt.Color("numbers:N", title="Precision", scale=scale),
        strokeDash=alt.StrokeDash("shortlist:N", title="Shortlist", sort=["no"]),
        tooltip=[
            alt.Tooltip("variant", title="Variant"),
            alt.Tooltip("numbers", title="Precision"),
            alt.Tooltip("shortlist", title="Shortlist"),
            alt.Tooltip("batch", title="Batch"),
            alt.Tooltip("words", title="Words/s", format=",.0f"),
            alt.Tooltip("slowest", title="Slowest round", format=",.0f"),
            alt.Tooltip("fastest", title="Fastest round", format=",.0f"),
            alt.Tooltip("bleu", title="BLEU"),
        ],
    )
    words = alt.Y("words:Q", title="source words per second (log); bars: all rounds", scale=log)
    bars = base.mark_rule().encode(y=alt.Y("slowest:Q", scale=log), y2="fastest:Q")
    chart = alt.layer(bars, base.mark_line(point=True).encode(y=words))
    panels = chart.properties(width=300, height=220).facet(
        alt.Facet("variant:N", title=None, sort=list(dict.fromkeys(rows["variant"]))), columns=2
    )
    cards = "".join(f" ({one.hardware})" for one in results.gpu_speeds[:1])
    return panels.properties(title=f"Speed on a GPU{cards}")
