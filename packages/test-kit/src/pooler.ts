// A pooler in front of PostgreSQL that behaves like pgbouncer with pool_mode=transaction and its other defaults: it refuses
// startup parameters, offers no TLS, and gives each transaction the server connection that has been idle the longest. It needs
// no program that a fresh machine lacks.
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import pg from "pg";

export interface TestPooler {
  /** The database's URL through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** The parameters that pgbouncer knows; https://www.pgbouncer.org/config.html#ignore_startup_parameters */
const KNOWN = "user database client_encoding datestyle timezone standard_conforming_strings application_name".split(
  " ",
);
const SSL_REQUEST = 80_877_103;

interface Message {
  /** A letter; empty for the first messages of a client. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Cuts a stream into messages. */
function reader(onMessage: (message: Message) => void, typed: () => boolean): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const start = typed() ? 1 : 0;
      if (rest.length < start + 4) return;
      const end = start + rest.readUInt32BE(start);
      if (rest.length < end) return;
      const bytes = rest.subarray(0, end);
      rest = rest.subarray(end);
      onMessage({ type: start === 0 ? "" : String.fromCharCode(bytes[0]!), bytes });
    }
  };
}

const message = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const READY = message("Z", Buffer.from("I"));
const fatal = (code: string, text: string): Buffer =>
  message("E", Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`));

interface Link {
  readonly stream: Socket;
  /** Receives the server's messages while a client uses the connection. */
  onMessage: (message: Message) => void;
}

/** Opens a connection to the server, and takes it over after pg has authenticated. */
async function openLink(url: string): Promise<Link> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners("data");
  stream.setNoDelay(true);
  const link: Link = { stream, onMessage: () => {} };
  stream.on(
    "data",
    reader(
      (received) => link.onMessage(received),
      () => true,
    ),
  );
  stream.on("error", () => {});
  return link;
}

/** @param links connections to the server, which all clients share */
export async function startPooler(url: string, links = 3): Promise<TestPooler> {
  const all = await Promise.all(Array.from({ length: links }, () => openLink(url)));
  const idle = [...all];
  const waiting: ((link: Link) => void)[] = [];
  const acquire = async (): Promise<Link> => idle.shift() ?? new Promise((resolve) => waiting.push(resolve));
  const release = (link: Link) => {
    link.onMessage = () => {};
    const next = waiting.shift();
    if (next === undefined) idle.push(link);
    else next(link);
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    // Small messages are sent at once.
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    serve(socket, acquire, release);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const pooled = new URL(url);
  pooled.port = String((server.address() as { port: number }).port);
  return {
    url: pooled.href,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      for (const { stream } of all) stream.destroy();
      await once(server, "close");
    },
  };
}

function serve(socket: Socket, acquire: () => Promise<Link>, release: (link: Link) => void): void {
  let started = false;
  let link: Promise<Link> | undefined;
  /** Answers that the client's messages will get, each ended by ReadyForQuery. */
  let expected = 0;

  const start = (bytes: Buffer): void => {
    if (bytes.readUInt32BE(4) === SSL_REQUEST) {
      socket.write("N");
      return;
    }
    const texts = bytes.subarray(8).toString().split("\0");
    const names = texts.filter((name, i) => i % 2 === 0 && name !== "");
    const unknown = names.find((name) => !KNOWN.includes(name.toLowerCase()));
    if (unknown !== undefined) {
      socket.end(fatal("08P01", `unsupported startup parameter: ${unknown}`));
      return;
    }
    started = true;
    const id = 1_000_000_000 + Math.floor(Math.random() * 1_000_000_000);
    socket.write(Buffer.concat([message("R", number(0)), message("K", number(id), number(id)), READY]));
  };

  const forward = async ({ type, bytes }: Message): Promise<void> => {
    if (type === "X") {
      socket.end();
      return;
    }
    if (type === "Q" || type === "S") expected += 1;
    if (link === undefined) {
      link = acquire();
      const acquired = await link;
      acquired.onMessage = (answer) => {
        socket.write(answer.bytes);
        if (answer.type !== "Z") return;
        expected -= 1;
        if (expected > 0 || answer.bytes.at(-1) !== "I".charCodeAt(0)) return;
        link = undefined;
        release(acquired);
      };
      acquired.stream.write(bytes);
      return;
    }
    (await link).stream.write(bytes);
  };

  const read = reader(
    (received) => (started ? void forward(received) : start(received.bytes)),
    () => started,
  );
  socket.on("data", read);
  // A client that leaves during a transaction ends it.
  socket.on("close", async () => {
    const left = await link;
    if (left === undefined) return;
    expected += 1;
    left.onMessage = ({ type }) => {
      if (type === "Z") expected -= 1;
      if (expected === 0) release(left);
    };
    left.stream.write(message("Q", Buffer.from("rollback\0")));
  });
}
