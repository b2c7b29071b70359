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
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/tab`);
    this.socket.onopen = () => {
      this.socket.send(sessionStorage.getItem("table") ?? "-");
      this.onState("open");
    };
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "hello") sessionStorage.setItem("table", message.table);
      this.receive(message);
    };
    this.socket.onclose = () => {
      this.onState("closed");
      askForToken();
      setTimeout(() => this.open(), RETRY_MS);
    };
  }

  send(name, fields = {}) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ do: name, ...fields }));
  }
}

export const connection = new Connection();
