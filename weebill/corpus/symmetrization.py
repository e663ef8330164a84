"""Symmetrization of two directed alignments of a sentence pair: grow-diag-final-and (Koehn et al. 2005).

A link (i, j) joins source position i and target position j.
"""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

Link = tuple[int, int]

# Horizontal and vertical neighbours come before diagonal ones.
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def grow_diag_final_and(forward: Iterable[Link], reverse: Iterable[Link]) -> list[Link]:
    """Return the symmetrized links in ascending order.

    They start with the links that both directions have.  Neighbours of these are added, if one direction has them
    and they join a word without a link; finally, links of either direction between two words without links are added.

    forward: links of the model that gives each target word at most one source word.
    reverse: links of the other model.
    """
    forward, reverse = set(forward), set(reverse)
    links = forward & reverse
    single = forward ^ reverse  # links that may still be added
    if not single:
        return sorted(links)
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    # Words with a link keep it, so a link that cannot add a neighbour in its turn never can: each link has one turn.
    # Passes are ordered by source, then target position; a new link before the current one waits for the next pass.
    turn, waiting = list(links), []
    while turn:
        heapify(turn)
        while turn:
            link = heappop(turn)
            for down, right in NEIGHBOURS:
                new = link[0] + down, link[1] + right
                if new in single and (new[0] not in sources or new[1] not in targets):
                    single.remove(new)
                    links.add(new)
                    sources.add(new[0])
                    targets.add(new[1])
                    if new > link:
                        heappush(turn, new)
                    else:
                        waiting.append(new)
        turn, waiting = waiting, []
    for direction in (forward, reverse):
        for i, j in sorted(direction & single):
            if i not in sources and j not in targets:
                links.add((i, j))
                sources.add(i)
                targets.add(j)
    return sorted(links)
