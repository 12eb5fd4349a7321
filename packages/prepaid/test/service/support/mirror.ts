import type { App } from "@sotto/server";
import { readConfig, type ServedExtensions, serveExtensions } from "@sotto/verifier-service";
import { mirrorExtension } from "../../../src/service/extension.ts";

export const PLACE = { chainId: 31337, pool: `0x${"5a".repeat(20)}` };
export const NOW = Date.UTC(2026, 10, 22, 12);
const REFUSED = `0x${"00".repeat(32)}`;

/** The extension with a node that knows no contract wallet: a wrong signature of an account causes a call too. */
const EXTENSION = mirrorExtension(() => ({ call: async () => REFUSED, useNodes: () => undefined }));

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Status and code of an answer. */
export const codeOf = ({ status, body }: Answer) => [status, body["code"]];

/** A mirror over one database, with one or more replicas. */
export class MirrorWorld {
  now = NOW;
  readonly #url: string;
  readonly served: ServedExtensions[] = [];

  /** @param url of a fresh database */
  constructor(url: string) {
    this.#url = url;
  }

  /** A replica: its own connections to the database, and its own app. */
  async replica(change: Record<string, string> = {}): Promise<App> {
    const settings = {
      SOTTO_CHAIN_ID: String(PLACE.chainId),
      SOTTO_POOL: PLACE.pool,
      SOTTO_RELAYER_KEY: `0x${"01".repeat(32)}`,
      SOTTO_STORE: this.#url,
      SOTTO_RATE_LIMIT: "100000",
      // The tests create schedules in the same thread.
      SOTTO_LATEST_LOOP_MS: "0",
      SOTTO_PREPAID_CLIENT_QUOTA: "1000",
      SOTTO_PREPAID_QUOTA: "1000",
    };
    const opened = await serveExtensions(readConfig({ ...settings, ...change }, [EXTENSION]), () => this.now);
    this.served.push(opened);
    return opened.app;
  }

  async close(): Promise<void> {
    for (const each of this.served.splice(0)) await each.close();
  }
}

/** Pushes a statement. @param body JSON, or an object */
export async function push(to: App, url: string, body: unknown, remoteAddress = "192.0.2.1"): Promise<Answer> {
  const payload = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  const answer = await to.inject({ method: "POST", url, headers, payload, remoteAddress });
  return { status: answer.statusCode, body: answer.json() };
}

/** Asks for what a mirror keeps. */
export async function ask(from: App, url: string, query: Record<string, string>): Promise<Answer> {
  const answer = await from.inject({ method: "GET", url, query });
  return { status: answer.statusCode, body: answer.json() };
}
