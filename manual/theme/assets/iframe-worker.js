/* Pages opened from a disk may not start workers: search runs in a frame instead, which answers to the same messages. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = "<!doctype html><script>" +
        "var all = Promise.resolve();" +
        "function importScripts() { for (const each of arguments) all = all.then(() => new Promise((done, failed) => {" +
        "  const script = document.createElement('script'); script.src = each; script.onload = done; script.onerror = failed;" +
        "  document.body.appendChild(script) })); return all }" +
        "window.postMessage = new Proxy(window.postMessage, { apply: (_, __, [data]) =>" +
        "  parent.dispatchEvent(new MessageEvent('from-frame', { data })) });" +
        "</" + "script><body><script src='" + address + "'></" + "script>"
      frame.onload = () => {
        this.frame = frame
        for (const data of this.waiting.splice(0)) this.postMessage(data)
      }
      window.addEventListener("from-frame", event => {
        this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      })
      document.addEventListener("DOMContentLoaded", () => document.body.appendChild(frame))
      if (document.body) document.body.appendChild(frame)
    }
    postMessage(data) {
      if (this.frame) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
      else this.waiting.push(data)
    }
    terminate() { if (this.frame) this.frame.remove() }
  }
}
