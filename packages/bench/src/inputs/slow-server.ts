import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ServedFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Its content encoding. Default: none. */
  readonly encoding?: string | undefined;
}

/** Time between two pieces, ms. */
const TICK_MS = 5;

/** Serves files over a line that all responses share. @param bytesPerSecond what the line carries */
export async function openSlowServer(files: ReadonlyMap<string, ServedFile>, bytesPerSecond: number) {
  const waiting: { response: ServerResponse; bytes: Uint8Array }[] = [];
  let [last, credit] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    // A line that was idle does not catch up; a timer that was late does.
    credit = waiting.length === 0 ? 0 : credit + ((now - last) / 1000) * bytesPerSecond;
    last = now;
    while (waiting.length > 0 && credit >= 1) {
      // The responses take turns.
      const turn = waiting.shift() as (typeof waiting)[number];
      const count = Math.min(turn.bytes.byteLength, Math.ceil(credit / (waiting.length + 1)));
      turn.response.write(turn.bytes.subarray(0, count));
      credit -= count;
      const rest = turn.bytes.subarray(count);
      if (rest.byteLength === 0) turn.response.end();
      else waiting.push({ response: turn.response, bytes: rest });
    }
  }, TICK_MS);
  const server = createServer(({ url = "" }, response) => {
    const file = files.get(url);
    if (file === undefined) return void response.writeHead(404).end();
    const { bytes, type, encoding } = file;
    response.writeHead(200, {
      "content-type": type,
      "content-length": bytes.byteLength,
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    });
    waiting.push({ response, bytes });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      clearInterval(timer);
      server.closeAllConnections();
      server.close();
    },
  };
}
