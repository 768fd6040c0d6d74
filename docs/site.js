// Search without a server: a page from disk may not start a worker, so the script of the worker runs in a hidden frame.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.ready = new Promise(done => this.frame.addEventListener("load", done));
    this.frame.srcdoc = "<body></body>";
    this.ready = this.ready.then(() => this.start(url));
    document.body.append(this.frame);
  }

  start(url) {
    const inside = this.frame.contentWindow;
    inside.postMessage = data => this.answer(data);
    inside.importScripts = async (...urls) => {
      for (const one of urls) await this.load(one);
    };
    return this.load(url);
  }

  load(url) {
    const script = this.frame.contentDocument.createElement("script");
    script.src = url;
    const loaded = new Promise(done => script.addEventListener("load", done));
    this.frame.contentDocument.body.append(script);
    return loaded;
  }

  answer(data) {
    const event = new MessageEvent("message", { data });
    this.dispatchEvent(event);
    if (this.onmessage) this.onmessage(event);
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = FrameWorker; // the name by which the search finds out where it runs
  window.Worker = FrameWorker;
}

// Tables that scroll can be scrolled by keyboard; the theme wraps them when the page is complete.
window.addEventListener("load", () => setTimeout(() => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
}));
