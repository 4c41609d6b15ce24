"""The console as it runs behind a page in a browser, which `signalbox serve` shows: no terminal, and other ways out."""
