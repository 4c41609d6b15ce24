"""What is at the cursors of the overview: in words, and as the query that finds its messages."""

from __future__ import annotations

from typing import NamedTuple

from console.overview.model import OverviewModel
from console.overview.words import bar_words, cell_words, left_out_words, length_words, spot_words, usage_words
from console.panes.overview.heartbeat import Heartbeat
from console.panes.overview.matrix import MatrixPane
from console.panes.overview.tables import AgentPane, ChannelPane
from mailstore.overview.leads import MOST_NAMES, of_agent, of_channel, of_pair, within


class OverviewCells(NamedTuple):
    """The panes and what they show."""

    model: OverviewModel
    heartbeat: Heartbeat
    agents: AgentPane
    channels: ChannelPane
    matrix: MatrixPane

    def titles(self) -> dict[str, str]:
        """Return the title of each section."""
        model = self.model
        return {
            "heartbeat": f"Heartbeat · messages in {length_words(model.bars.length)}",
            "agents": f"Agents · {len(model.agents):,}{self.agents.scale()}{usage_words(model)}",
            "channels": f"Channels · {len(model.channels):,}{self.channels.scale()}",
            "matrix": "Who writes to whom",
        }

    def words(self, section: str) -> str:
        """Return what is said of the cell at the cursor of a section."""
        model = self.model
        standing = model.standing
        if section == "heartbeat":
            first, last = self.heartbeat.selection
            spots = standing.by_bar(model.bars) if standing is not None else {}
            hot = next((spot for bar, spot in spots.items() if first <= bar <= last), None)
            return " · ".join(filter(None, (bar_words(model, first, last), spot_words(hot))))
        if section == "matrix":
            cell = self.matrix.cell()
            if cell is None:
                return ""
            senders, recipients, _ = cell
            is_one = len(senders) == len(recipients) == 1
            hot = standing.between(senders[0], recipients[0]) if standing is not None and is_one else None
            unnamed = "too many to name: the search finds more" if max(map(len, cell[:2])) > MOST_NAMES else ""
            return " · ".join(filter(None, (cell_words(model, *cell), spot_words(hot), unnamed)))
        if section == "agents":
            line = next((agent for agent in model.agents if agent.key == self.agents.rows.cursor_key), None)
            hot = line.hot if line is not None else None
            return spot_words(hot) or left_out_words(model.picture.left_out)
        channel = next(
            (channel_line for channel_line in model.channels if channel_line.key == self.channels.rows.cursor_key), None
        )
        return spot_words(channel.hot) if channel is not None else ""

    def query(self, section: str) -> str:
        """Return the query for the cell at the cursor of a section; empty if there is none."""
        model = self.model
        when = within(model.bars, is_open=not model.picture.left_out.later)
        match section:
            case "heartbeat":
                return within(model.bars, *self.heartbeat.selection, is_open=not model.picture.left_out.later)
            case "agents":
                key = self.agents.rows.cursor_key
                return of_agent(model.picture, key, when) if key is not None else ""
            case "channels":
                key = self.channels.rows.cursor_key
                return of_channel(key, when) if key is not None else ""
            case _:
                cell = self.matrix.cell()
                if cell is None:
                    return ""
                return of_pair(model.picture, cell[0], cell[1], when)
