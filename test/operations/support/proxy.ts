// HAProxy with the configuration of compose.yaml, where it is installed. Elsewhere requests go to the replicas in turn.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { freePort } from "@sotto/server";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { eventually } from "@sotto/test-kit/eventually";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { isInstalled, ROOT } from "./page.ts";

export interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Empty if it is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RunningProxy {
  /** Whether it is HAProxy. */
  readonly real: boolean;
  ask(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Asked>;
  stop(): Promise<void>;
}

const CONFIGURATION = join(ROOT, "packages", "service", "compose", "haproxy.cfg");
/** Debian installs it where only root looks. */
const PROGRAM = ["haproxy", "/usr/sbin/haproxy"].find(isInstalled);

/** @param replicas HOST:PORT of the two replicas */
export async function startProxy(replicas: readonly [string, string]): Promise<RunningProxy> {
  if (PROGRAM === undefined || !isInstalled("openssl")) return inTurn(replicas);
  const folder = temporaryFolder("proxy");
  const [key, certificate, both] = ["key.pem", "certificate.pem", "tls"].map((name) => join(folder, name));
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  execFileSync("openssl", ["req", "-x509", ...curve, ...subject, "-keyout", key!, "-out", certificate!], {
    stdio: "ignore",
  });
  writeFileSync(both!, [certificate!, key!].map((path) => readFileSync(path, "utf8")).join(""));
  const port = await freePort("127.0.0.1");
  const [REPLICA_A, REPLICA_B] = replicas;
  const child = spawn(PROGRAM, ["-db", "-f", CONFIGURATION], {
    env: { ...BASE_ENVIRONMENT, ADDRESS: `127.0.0.1:${port}`, CERTIFICATE: both!, REPLICA_A, REPLICA_B },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const ended = once(child, "exit");
  const ask: RunningProxy["ask"] = (path, body, headers) =>
    send(`https://127.0.0.1:${port}${path}`, body, headers, readFileSync(certificate!));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended:\n${said.join("")}`);
    return ask("/zk/healthz").then(
      ({ status }) => status === 200,
      () => false,
    );
  });
  const stop = async () => {
    process.off("exit", kill);
    kill();
    await ended;
  };
  return { real: true, ask, stop };
}

function inTurn(replicas: readonly string[]): RunningProxy {
  let turn = 0;
  const ask: RunningProxy["ask"] = (path, body, headers) =>
    send(`http://${replicas[turn++ % replicas.length]}${path}`, body, headers);
  return { real: false, ask, stop: async () => undefined };
}

/** Sends each request over a connection of its own: fetch trusts no certificate that a test makes. */
async function send(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  ca?: Buffer,
): Promise<Asked> {
  const options = { agent: false, headers: { "content-type": "application/json", ...headers }, ca };
  const sent = (url.startsWith("https:") ? secure : plain)(url, {
    ...options,
    method: body === undefined ? "GET" : "POST",
  });
  const answered = once(sent, "response");
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await answered) as [IncomingMessage];
  const received = await text(answer);
  const isJson = String(answer.headers["content-type"]).startsWith("application/json");
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: isJson ? JSON.parse(received) : {} };
}
