// The line to the server: one WebSocket, opened again when it breaks. The tab's table is remembered for a reload, and
// its record for the case that the server forgets.

const RETRY_MS = 1000;

// A server that was started again may want another token: the page itself asks for it.
async function askForToken() {
  const answer = await fetch(location.pathname, { method: "HEAD" }).catch(() => null);
  if (answer?.status === 401) location.reload();
}

class Connection {
  // receive(message) takes what comes in, onState("open" | "closed") tells how the line is.
  start(receive, onState) {
    this.receive = receive;
    this.onState = onState;
    this.open();
    // A page that the browser had put aside comes back with a line that was cut.
    addEventListener("pageshow", (event) => { if (event.persisted) this.open(); });
  }

  open() {
    clearTimeout(this.timer);
    this.socket?.close();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = this.socket = new WebSocket(`${scheme}//${location.host}/tab`);
    this.isAnswered = false;
    this.waiting = null;
    socket.onopen = () => socket.send(sessionStorage.getItem("table") ?? "-");
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (!this.isAnswered) this.onState("open");
      this.isAnswered = true;
      if (message.type === "hello") sessionStorage.setItem("table", message.table);
      this.receive(message);
    };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      this.isAnswered = false;
      this.onState("closed");
      askForToken();
      this.timer = setTimeout(() => this.open(), RETRY_MS);
    };
  }

  // The last wish on a new line waits until the server is known to have the game.
  send(name, fields = {}) {
    const wish = JSON.stringify({ do: name, ...fields });
    if (this.isAnswered) this.socket.send(wish);
    else this.waiting = wish;
  }

  sendWaiting() {
    if (this.waiting) this.socket.send(this.waiting);
    this.waiting = null;
  }
}

export const connection = new Connection();
