// Starts the local chain as a child process, and stops it.
import { fork } from "node:child_process";
import { Socket } from "node:net";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import { HOST } from "@sotto/command/ports";
import { root } from "@sotto/keys/circuits/paths";
import type { DeploymentManifest } from "@sotto/protocol";
import type { NodeOptions, ServerMessage } from "./server.ts";

export interface LocalNode {
  readonly url: string;
  /** Stops the node and waits until it has exited. May be called more than once. */
  stop(): Promise<void>;
}

/** A local chain with a test dollar and a pool for it. */
export interface DeployedNode extends LocalNode {
  readonly deployment: DeploymentManifest;
}

/** Timeout of the start, long enough for a busy machine. Each message of the node restarts the timeout. */
const START_TIMEOUT_MS = 300_000;

/**
 * Starts a local chain.
 * @param port 0 (the default) for any free port
 * @param onReplay called while the node builds the blocks of its history again
 * @throws CommandError PORT_BUSY, NODE_FAILED, CHAIN_HISTORY_DAMAGED, CHAIN_NOT_REPEATED
 */
export async function startNode(
  port = 0,
  options: Omit<NodeOptions, "deploy"> = {},
  onReplay: (blocks: number, of: number) => void = () => {},
): Promise<LocalNode> {
  const { url, stop } = await start(port, options, onReplay);
  return { url, stop };
}

/**
 * Starts a local chain on any free port and deploys a pool. The node's process deploys, so that this one does not load
 * Hardhat.
 * @throws CommandError NODE_FAILED
 */
export async function startDeployedNode(): Promise<DeployedNode> {
  const { url, stop, deployment } = await start(0, { deploy: true }, () => {});
  if (deployment === undefined) throw new CommandError("NODE_FAILED", "the local chain has no pool");
  return { url, stop, deployment };
}

type Started = LocalNode & { readonly deployment?: DeploymentManifest | undefined };

async function start(
  port: number,
  options: NodeOptions,
  onReplay: (blocks: number, of: number) => void,
): Promise<Started> {
  const child = fork(join(import.meta.dirname, "server.ts"), [String(port), JSON.stringify(options)], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let output = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async () => {
    child.ref();
    child.kill("SIGTERM");
    await closed;
  };
  let timer: NodeJS.Timeout | undefined;
  const message = await new Promise<Exclude<ServerMessage, { replaying: unknown }>>((resolve) => {
    const fail = (text: string) => resolve({ error: { code: "NODE_FAILED", message: text } });
    timer = setTimeout(() => fail("the local chain did not start in five minutes"), START_TIMEOUT_MS);
    child.on("message", (received: ServerMessage) => {
      timer?.refresh();
      if ("replaying" in received) onReplay(received.replaying.blocks, received.replaying.of);
      else resolve(received);
    });
    child.once("error", (error) => fail(error.message));
    void closed.then(() => fail(`the local chain exited while starting: ${output.trim()}`));
  });
  clearTimeout(timer);
  if ("error" in message) {
    await stop();
    throw new CommandError(message.error.code, message.error.message);
  }
  // The child does not keep the parent alive, and exits with it, even if the parent never calls stop().
  child.unref();
  child.channel?.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
  const { port: actual, deployment } = message.listening;
  return { url: `http://${HOST}:${actual}`, stop, deployment };
}
