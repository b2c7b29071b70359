// A game as part of the address: its record and the place in it, compressed.

const KEY = "#game=";

async function pipe(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));

export async function makeLink(sgf, path) {
  const bytes = await pipe(new TextEncoder().encode(JSON.stringify({ sgf, path })), new CompressionStream("deflate-raw"));
  return location.origin + location.pathname + KEY + toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The game of the address, null where there is none, and undefined for one that cannot be read.
export async function readLink() {
  if (!location.hash.startsWith(KEY)) return null;
  try {
    const text = atob(location.hash.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await pipe(Uint8Array.from(text, (letter) => letter.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  } finally {
    history.replaceState(null, "", location.pathname);
  }
}
