// The page around the terminal that textual-serve brings: its socket, the keys, the title, and what is said when it ends.
"use strict";

(() => {
  const CLOSED_BY_PERSON = 4001;
  const FULL = 4002;
  const FAILED = 4003;
  const STOPPED = 4004;
  const PING_SECONDS = 5;
  const SLOW_SECONDS = 8;
  const LOST_SECONDS = 25;
  const RETRY_SECONDS = [1, 2, 4, 8, 15];
  const MOST_BYTES = 8 << 20; // of one message, as the server takes it
  const TITLE = "Signalbox";

  const element = (id) => document.getElementById(id);

  // Styles that the terminal makes bear the nonce of this page, or the policy forbids them.
  const nonce = document.querySelector('meta[name="style-nonce"]').content;
  const createElement = document.createElement.bind(document);
  document.createElement = (name, options) => {
    const made = createElement(name, options);
    if (String(name).toLowerCase() === "style") {
      made.nonce = nonce;
    }
    return made;
  };

  // The terminal would open every address in a text that is clicked; only the console opens links, after asking.
  const openWindow = window.open.bind(window);
  window.open = () => null;

  // The socket

  let socket = null;
  let answered = 0;
  let failure = "";

  class ConsoleSocket extends WebSocket {
    constructor(url) {
      super(url);
      socket = this;
      answered = Date.now();
      this.addEventListener("message", (event) => {
        answered = Date.now();
        if (typeof event.data === "string" && heard(JSON.parse(event.data))) {
          event.stopImmediatePropagation();
        }
      });
      this.addEventListener("close", (event) => ended(event.code, event.reason));
    }

    send(data) {
      if (data.length > MOST_BYTES / 4 && new Blob([data]).size > MOST_BYTES) {
        say("The text is too long to paste: at most 8 MB.");
      } else if (this.readyState === WebSocket.OPEN) {
        super.send(data);
      }
    }
  }
  window.WebSocket = ConsoleSocket;

  // What the console says of itself; true if that was all there is to do.
  function heard([what, value]) {
    switch (what) {
      case "title":
        title = value;
        showTitle();
        return true;
      case "background":
        if (/^#[0-9a-f]{6}$/.test(value)) {
          document.body.style.background = value;
        }
        return true;
      case "bell":
        ring();
        return true;
      case "notification":
        ring();
        notify(value);
        return true;
      case "open":
        openLink(value);
        return true;
      case "download":
        download(value);
        return true;
      case "failed":
        failure = value;
        return true;
      case "pong":
        return true;
      default:
        return false;
    }
  }

  function watch() {
    if (document.hidden || socket === null || socket.readyState !== WebSocket.OPEN) {
      return;
    }
    socket.send(JSON.stringify(["ping", "0"]));
    const seconds = (Date.now() - answered) / 1000;
    if (seconds > LOST_SECONDS) {
      const lost = socket;
      ended(1006, "");
      lost.close();
    } else if (seconds > SLOW_SECONDS) {
      say(`The connection is slow: no answer for ${Math.round(seconds)} s`);
      isSlow = true;
    } else if (isSlow) {
      isSlow = false;
      hideNotice();
    }
  }
  let isSlow = false;
  setInterval(watch, PING_SECONDS * 1000);
  document.addEventListener("visibilitychange", () => {
    answered = Date.now(); // nothing was heard while the browser let this page sleep
    showTitle();
    focus();
  });

  // The end of a console

  let isEnded = false;

  function ended(code, reason) {
    if (isEnded) {
      return;
    }
    isEnded = true;
    hideNotice();
    title = "";
    if (code === CLOSED_BY_PERSON) {
      cover("The console is closed", "Drafts are kept.", "Open again", again);
    } else if (code === FULL) {
      const words = `No more than ${reason} console${reason === "1" ? "" : "s"} at a time: close another tab, or start signalbox serve with a larger --max.`;
      cover("Too many consoles", words, "Try again", again);
    } else if (code === FAILED) {
      cover("The console ended with an error", failure || "Its server knows more.", "Open again", again);
    } else {
      const words = "Drafts are kept. This page tries to connect again.";
      const heading = code === STOPPED ? "signalbox serve has ended" : "The connection is lost";
      cover(heading, words, "Try now", () => retry(0, true));
      retry(0, false);
    }
  }

  let waiting = 0;

  async function retry(attempt, isAsked) {
    clearTimeout(waiting);
    try {
      const answer = await fetch("/alive", { cache: "no-store", signal: AbortSignal.timeout(10000) });
      if (answer.ok) {
        again();
        return;
      }
      if (answer.status === 401) {
        const words = "Signalbox was started again with another link: open the one that it printed.";
        cover("This link has ended", words, "Try now", () => retry(0, true));
      }
    } catch {
      if (isAsked) {
        element("cover-words").textContent = "There is still no connection. This page tries again by itself.";
      }
    }
    const seconds = RETRY_SECONDS[Math.min(attempt, RETRY_SECONDS.length - 1)];
    waiting = setTimeout(() => retry(attempt + 1, false), seconds * 1000);
  }

  const again = () => location.replace("/");

  function cover(heading, words, deed, action) {
    element("cover-title").textContent = heading;
    element("cover-words").textContent = words;
    element("cover-deed").textContent = deed;
    element("cover-deed").onclick = action;
    element("cover").hidden = false;
    element("cover-deed").focus();
    showTitle(heading);
  }

  // Title, bell and notifications

  let title = "";
  let hasRung = false;

  function showTitle(words = title || TITLE) {
    hasRung = hasRung && document.hidden;
    document.title = (hasRung ? "● " : "") + words;
  }

  function ring() {
    hasRung = document.hidden;
    showTitle();
  }

  function notify(words) {
    if (!("Notification" in window) || !document.hidden) {
      return;
    }
    if (Notification.permission === "granted") {
      new Notification(TITLE, { body: words, tag: "signalbox" });
    } else if (Notification.permission === "default") {
      say("Mail came while this tab was hidden.", "Notify me", () => Notification.requestPermission());
    }
  }

  function say(words, deed = "", action = null) {
    element("notice-words").textContent = words;
    element("notice-link").hidden = true;
    const button = element("notice-deed");
    button.hidden = !deed;
    button.textContent = deed;
    button.onclick = () => {
      hideNotice();
      action();
    };
    element("notice").hidden = false;
  }

  function hideNotice() {
    element("notice").hidden = true;
    focus();
  }

  // Links and files

  function openLink(target) {
    if (!/^(https?|mailto):/i.test(target)) {
      return;
    }
    const tab = openWindow("", "_blank");
    if (tab) {
      tab.opener = null;
      tab.location.replace(target);
      return;
    }
    say("The browser opened no tab for:");
    const link = element("notice-link");
    link.href = target;
    link.textContent = target;
    link.hidden = false;
    link.onclick = hideNotice;
  }

  function download({ key, name }) {
    const link = createElement("a");
    link.href = `/download/${key}`;
    link.download = name;
    link.click();
  }

  // Keys: those of the browser that the console needs go to it; those that the browser needs stay with it.

  // Ctrl with these is another key for a terminal than without, which the terminal here doesn't tell apart.
  const SENT_AS = { Enter: "\x1b[13;5u", Backspace: "\x17" };

  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

  function key(event) {
    const isPlainControl = event.ctrlKey && !event.altKey && !event.metaKey;
    const name = event.key.toLowerCase();
    if (!element("cover").hidden || element("notice").contains(document.activeElement)) {
      event.stopPropagation(); // the buttons' own
    } else if (isPlainControl && !event.shiftKey && name === "v" && !isMac) {
      event.stopPropagation(); // the browser pastes into the terminal
    } else if ((event.ctrlKey || event.metaKey) && ["+", "-", "=", "0"].includes(event.key)) {
      event.stopPropagation(); // the browser's zoom
    } else if (isPlainControl && !event.shiftKey && event.key in SENT_AS) {
      event.preventDefault();
      event.stopPropagation();
      socket?.send(JSON.stringify(["stdin", SENT_AS[event.key]]));
    } else if (isPlainControl && name === "c") {
      if (event.shiftKey) {
        event.preventDefault();
        event.stopPropagation();
      }
      document.execCommand("copy"); // what was selected with shift and the mouse
    } else if (isPlainControl && "sgpfoudekjlh".includes(name)) {
      event.preventDefault();
    }
  }
  window.addEventListener("keydown", key, true);

  function focus() {
    const input = document.querySelector(".xterm-helper-textarea");
    if (input && element("cover").hidden) {
      input.focus({ preventScroll: true });
    }
  }
  window.addEventListener("focus", focus);

  document.addEventListener("DOMContentLoaded", () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    element("terminal").dataset.sessionWebsocketUrl = `${scheme}://${location.host}/ws`;
    element("notice-close").onclick = hideNotice;
  });

  // The terminal measures its cells when it is made: its font has to be there.
  document.addEventListener("readystatechange", async () => {
    if (document.readyState !== "complete") {
      return;
    }
    const start = window.onload;
    window.onload = null;
    await Promise.allSettled([document.fonts.load('15px "Roboto Mono"'), document.fonts.load('bold 15px "Roboto Mono"')]);
    start();
    focus();
  });
})();
