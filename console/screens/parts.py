"""Make the parts of the main screen, each with what it needs, and pass on what happens there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from console.screens.acknowledging import Acknowledging
from console.screens.all_seen import AllSeen, AllSeenScreen
from console.screens.attachments.attachments import MessageFiles
from console.screens.away.away import Away, AwayScreen
from console.screens.channels import Channels, ChannelsScreen
from console.screens.clipboard import Clipboard, ClipboardScreen
from console.screens.closing import Closing, ClosingScreen
from console.screens.cut_off_watch import CutOffWatch
from console.screens.delay_watch import DelayWatch
from console.screens.desks.attention_watch import AttentionWatch, AttentionWatchScreen
from console.screens.desks.desks import Desks, DesksScreen
from console.screens.exporting import Exporting, ExportingScreen
from console.screens.links.links import MessageLinks, MessageLinksScreen
from console.screens.mark_sync import MarkSync
from console.screens.marking import Marking, MarkingScreen
from console.screens.navigation import Navigation, NavigationScreen
from console.screens.opening import Opening, OpeningScreen
from console.screens.overview.overviewing import Overviewing, OverviewingScreen
from console.screens.page_title import PageTitle, PageTitleScreen
from console.screens.pages import Pages, PagesScreen
from console.screens.piping import Piping
from console.screens.quiet.mark_keeping import MarkKeeping
from console.screens.quiet.muting import Muting, MutingScreen
from console.screens.quiet.snoozing import Snoozing, SnoozingScreen
from console.screens.quiet.starring import Starring, StarringScreen
from console.screens.reading import Reading, ReadingScreen
from console.screens.saved_counts import SavedCounts, SavedCountsScreen
from console.screens.searching import Searching, SearchingScreen
from console.screens.sizes.resizing import Resizing, ResizingScreen
from console.screens.streams.following import Following, FollowingScreen
from console.screens.streams.streaming import Streaming, StreamingScreen
from console.screens.time_travel import TimeTravel, TimeTravelScreen
from console.screens.undoing import Undoing
from console.screens.waking import Waking, WakingScreen
from console.screens.writing.composing import Composing, ComposingScreen
from console.screens.writing.holding import Holding, HoldingScreen
from console.styles import TextStyles

if TYPE_CHECKING:
    from console.panes.composer import Composer
    from console.panes.reader import ReadingPane
    from console.panes.sidebar import Sidebar
    from console.panes.threads import ThreadListPane


class PartsScreen(
    AllSeenScreen,
    AttentionWatchScreen,
    AwayScreen,
    ChannelsScreen,
    ClipboardScreen,
    ClosingScreen,
    ComposingScreen,
    DesksScreen,
    ExportingScreen,
    HoldingScreen,
    MessageLinksScreen,
    FollowingScreen,
    MarkingScreen,
    MutingScreen,
    NavigationScreen,
    OpeningScreen,
    OverviewingScreen,
    PageTitleScreen,
    PagesScreen,
    ReadingScreen,
    ResizingScreen,
    SavedCountsScreen,
    SearchingScreen,
    SnoozingScreen,
    StarringScreen,
    StreamingScreen,
    TimeTravelScreen,
    WakingScreen,
    Protocol,
):
    """What all parts together need of the screen."""

    @property
    def sidebar(self) -> Sidebar: ...
    @property
    def threads(self) -> ThreadListPane: ...
    @property
    def conversation(self) -> ReadingPane: ...
    @property
    def composer(self) -> Composer: ...


class Parts:
    """The parts by the names that `console.commands` gives them; a new one is made here."""

    def __init__(self, screen: PartsScreen) -> None:
        self.reading = Reading(screen)
        self.all_seen = AllSeen(screen, self.reading)
        self.acknowledging = Acknowledging(screen)
        self.marking = Marking(screen)
        self.composing = Composing(screen)
        self.holding = Holding(screen, self.composing)
        self.composing.hold_with(self.holding)
        self.searching = Searching(screen)
        self.saved_counts = SavedCounts(screen)
        self.time_travel = TimeTravel(screen, self.searching)
        self.away = Away(screen)
        self.attention_watch = AttentionWatch(screen)
        self.cut_off_watch = CutOffWatch(screen, self.reading)
        self.delay_watch = DelayWatch(screen)
        self.desks = Desks(screen, self.reading, self.composing, self.attention_watch)
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
        self.files = MessageFiles(screen)
        self.piping = Piping(screen)
        self.exporting = Exporting(screen)
        self.waking = Waking(screen)
        self.channels = Channels(screen)
        self.undoing = Undoing(screen)
        self.resizing = Resizing(screen)
        self.closing = Closing(screen, self.holding)
        keeping = MarkKeeping(screen)
        self.muting = Muting(screen, keeping)
        self.starring = Starring(screen, keeping)
        self.snoozing = Snoozing(screen, keeping)
        self.mark_sync = MarkSync(screen, keeping)

    def drawn(self) -> None:
        """Everything was drawn, because something may have changed."""
        self.composing.show_sent()
        self.page_title.drawn()
        self.cut_off_watch.drawn()
        self.following.drawn()
        self.saved_counts.mail_changed()
        self.attention_watch.mail_changed()
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
        self.holding.ticked()

    def mail_loaded(self) -> None:
        """All mail was read, of which there was a part until now."""
        self.desks.leave_start()
        self.searching.repeat()

    def moved(self) -> None:
        """The cursor was moved by a key."""
        self.reading.moved()
        self.streaming.moved()
        self.following.moved()

    def message_highlighted(self, key: str) -> None:
        """The cursor is at another message."""
        self.reading.message_highlighted(key)
        self.streaming.message_highlighted(key)

    def thread_shown(self) -> None:
        """Another thread or a stream came into the conversation."""
        self.composing.restore_draft()

    def location_changed(self) -> None:
        """The person went to another view."""
        self.searching.forget()
        self.snoozing.place_left()

    def styles_changed(self, styles: TextStyles) -> None:
        """Another theme was chosen."""
        self.time_travel.set_text_styles(styles)
