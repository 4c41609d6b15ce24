// A link that was followed from another site: its cookie, being SameSite=Strict, is sent only once we ask ourselves.
"use strict";

const TRIED = "signalbox-tried";

if (!sessionStorage.getItem(TRIED)) {
  sessionStorage.setItem(TRIED, "1");
  location.replace("/");
} else {
  sessionStorage.removeItem(TRIED);
}
