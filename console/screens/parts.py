"""Make the parts of the main screen, each with what it needs, and pass on what happens there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from console.screens.acknowledging import Acknowledging
from console.screens.all_seen import AllSeen
from console.screens.attachments import MessageFiles
from console.screens.away import Away
from console.screens.base_screen import Action
from console.screens.channels import Channels
from console.screens.closing import Closing
from console.screens.desks.attention_watch import AttentionWatch
from console.screens.desks.desks import Desks
from console.screens.drawing import PageTitle
from console.screens.exporting import Exporting
from console.screens.links import MessageLinks
from console.screens.mail_screen import MailScreen
from console.screens.marking import Marking
from console.screens.message_texts import Clipboard, Piping
from console.screens.navigation import Navigation
from console.screens.opening import Opening
from console.screens.overview.overviewing import Overviewing
from console.screens.pages import Pages
from console.screens.quiet.mark_keeping import MarkKeeping, Starring
from console.screens.quiet.muting import Muting
from console.screens.quiet.snoozing import Snoozing
from console.screens.reading import Reading
from console.screens.resizing import Resizing
from console.screens.saved_counts import SavedCounts
from console.screens.searching import Searching
from console.screens.streaming import Following, Streaming
from console.screens.time_travel import TimeTravel
from console.screens.transcripts import Transcripts
from console.screens.undoing import Undoing
from console.screens.waking import Waking
from console.screens.watches import CutOffWatch, DelayWatch, MarkSync
from console.screens.writing.composing import Composing
from console.screens.writing.sending import Sending
from console.words.styles import TextStyles
from mailstore.records.message import Message


class Parts:
    """The parts, and which of their methods runs for which command."""

    def __init__(self, screen: MailScreen) -> None:
        self.reading = Reading(screen)
        self.all_seen = AllSeen(screen, self.reading)
        self.acknowledging = Acknowledging(screen)
        self.marking = Marking(screen)
        self.composing = Composing(screen)
        self.sending = Sending(screen, self.composing)
        self.searching = Searching(screen)
        self.saved_counts = SavedCounts(screen)
        self.time_travel = TimeTravel(screen, self.searching)
        self.away = Away(screen)
        self.attention_watch = AttentionWatch(screen)
        self.cut_off_watch = CutOffWatch(screen, self.reading)
        self.delay_watch = DelayWatch(screen)
        self.desks = Desks(screen, self.reading, self.composing, self.sending, self.attention_watch)
        self.overviewing = Overviewing(screen, self.searching, self.time_travel)
        self.following = Following(screen)
        self.streaming = Streaming(screen, self.reading, self.composing, self.searching)
        self.navigation = Navigation(
            screen,
            self.reading,
            self.composing,
            self.searching,
            self.streaming,
            self.time_travel,
            self.desks,
            self.overviewing,
            self.away,
        )
        self.opening = Opening(screen, self.navigation, self.composing, self.desks, self.away)
        self.pages = Pages(screen)
        self.page_title = PageTitle(screen)
        self.clipboard = Clipboard(screen)
        self.links = MessageLinks(screen)
        self.transcripts = Transcripts(screen)
        self.files = MessageFiles(screen)
        self.piping = Piping(screen)
        self.exporting = Exporting(screen)
        self.waking = Waking(screen, self.composing)
        self.channels = Channels(screen)
        self.undoing = Undoing(screen)
        self.resizing = Resizing(screen)
        self.closing = Closing(screen, self.sending)
        keeping = MarkKeeping(screen)
        self.muting = Muting(screen, keeping)
        self.starring = Starring(screen, keeping)
        self.snoozing = Snoozing(screen, keeping)
        self.mark_sync = MarkSync(screen, keeping)
        self.actions = self._actions()

    def _actions(self) -> dict[str, Action]:
        """Return what runs for each command of the main screen, by the command's id; the screen itself moves."""
        return {
            "pane.sidebar": partial(self.navigation.go_pane, 1),
            "pane.threads": partial(self.navigation.go_pane, 2),
            "pane.conversation": partial(self.navigation.go_pane, 3),
            "pane.composer": partial(self.navigation.go_pane, 4),
            "pane.next": partial(self.navigation.next_pane, 1),
            "pane.previous": partial(self.navigation.next_pane, -1),
            "open": self.navigation.enter,
            "back": self.navigation.back,
            "left": self.navigation.left,
            "right": self.navigation.right,
            "history.back": partial(self.navigation.history, -1),
            "history.forward": partial(self.navigation.history, 1),
            "read.on": self.reading.read_on,
            "read.next": partial(self.streaming.next, 1),
            "read.previous": partial(self.streaming.next, -1),
            "read.scroll-down": partial(self.navigation.scroll_conversation, 3),
            "read.scroll-up": partial(self.navigation.scroll_conversation, -3),
            "mark.seen": self.reading.toggle_seen,
            "mark.thread": self.reading.thread_seen,
            "mark.all": self.all_seen.mark,
            "mark.row": self.marking.toggle,
            "mark.range": self.marking.mark_range,
            "mark.query": self.marking.mark_query,
            "undo": self.undoing.undo,
            "redo": self.undoing.redo,
            "search": self.searching.search,
            "search.narrow": self.searching.narrow,
            "notes": self.searching.notes,
            "filter": self.streaming.filter,
            "only-unread": self.reading.only_unread,
            "zoom": self.navigation.zoom,
            "pane.narrower": partial(self.resizing.resize, -1),
            "pane.wider": partial(self.resizing.resize, 1),
            "pane.reset": self.resizing.reset,
            "follow": self.following.follow,
            "tree": self.streaming.cycle,
            "timeline": self.streaming.of_type,
            "view.dead": self.opening.dead_letters,
            "travel": self.time_travel.toggle,
            "travel.back": partial(self.time_travel.step, -1),
            "travel.on": partial(self.time_travel.step, 1),
            "travel.hour-back": partial(self.time_travel.step_hours, -1),
            "travel.hour-on": partial(self.time_travel.step_hours, 1),
            "travel.to": self.time_travel.ask_moment,
            "why": self.time_travel.why,
            "compose": self.composing.compose,
            "reply": self.composing.reply,
            "quote": self.desks.redirect_or_quote,
            "intervene": self.composing.reply_all,
            "editor": self.composing.edit,
            "compose.editor": self.composing.edit,
            "compose.send-now": self.sending.send_held,
            "compose.follow": self.following.follow,
            "compose.attach": self.composing.attach,
            "compose.options": self.composing.options,
            "compose.send": self.sending.send,
            "compose.discard": self.composing.discard,
            "wake": self.waking.wake,
            "agent.status": self.waking.choose_status,
            "channel.join": self.channels.toggle_joined,
            "unfold": self.navigation.enter,
            "open.text": self.navigation.toggle_text,
            "scroll.right": partial(self.navigation.scroll_sideways, 1),
            "scroll.left": partial(self.navigation.scroll_sideways, -1),
            "details": self.pages.details,
            "agent": self.pages.agent,
            "record": self.pages.record,
            "transcript": self.transcripts.show,
            "links": self.links.show,
            "acknowledge": self.acknowledging.acknowledge,
            "files": self.files.show,
            "copy.text": self.clipboard.copy_text,
            "copy.id": self.clipboard.copy_id,
            "copy.command": self.clipboard.copy_command,
            "export": self.exporting.export,
            "pipe": self.piping.pipe,
            "mute": self.muting.mute,
            "mute.list": self.muting.list_all,
            "star": self.starring.toggle,
            "snooze": self.snoozing.snooze,
            "views": self.opening.views,
            "away": self.opening.away,
            "drafts": self.opening.drafts,
            "settings": self.opening.settings,
            "attention": self.opening.attention,
            "archive": self.opening.archive,
            "unreadable": self.opening.unreadable,
            "journal": self.opening.journal,
            "overview": self.overviewing.open,
            "help": self.pages.help,
            "problems": self.pages.problems,
            "quit": self.closing.close,
        }

    def drawn(self, *, is_change: bool) -> None:
        """Everything was drawn, because something may have changed, or only because messages have expired."""
        self.composing.show_sent()
        self.page_title.drawn()
        self.cut_off_watch.drawn()
        self.following.drawn()
        self.saved_counts.mail_changed()
        if is_change:
            self.attention_watch.mail_changed()
        else:
            self.attention_watch.mail_expired()
        self.snoozing.look()

    def ticked(self) -> None:
        """A second passed."""
        self.mark_sync.tick()
        self.delay_watch.tick()
        self.away.ticked()
        self.snoozing.look()
        self.streaming.moved()
        self.saved_counts.check()
        self.attention_watch.check()
        self.sending.ticked()

    def mail_arrived(self, arrived: Sequence[Message]) -> None:
        """Messages came that are new in the mailbox."""
        self.reading.see_answered(arrived)

    def mail_loaded(self) -> None:
        """All mail was read, of which there was a part until now."""
        self.desks.leave_start()
        self.searching.repeat()

    def moved(self) -> None:
        """The cursor was moved by a key."""
        self.reading.moved()
        self.streaming.read()
        self.following.moved()

    def message_highlighted(self, key: str) -> None:
        """The cursor is at another message."""
        if not self.streaming.is_only_shown:
            self.reading.message_highlighted(key)
        self.streaming.message_highlighted(key)

    def thread_shown(self) -> None:
        """Another thread or a stream came into the conversation."""
        self.composing.restore_draft()

    def location_changed(self) -> None:
        """The user went to another view."""
        self.searching.forget()
        self.streaming.left()
        self.snoozing.place_left()

    def styles_changed(self, styles: TextStyles) -> None:
        """Another theme was chosen."""
        self.time_travel.set_text_styles(styles)
