// Five thousand almost valid headers, with the same changes in each run, spread over the adapters. None of them reaches a
// handler, and none makes a server fail.

import { Agent, request as httpRequest } from "node:http";
import type { Paywall, PaywallEvent } from "@sotto/resource-server";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { openPaywall } from "@sotto/test-world/paywall/options";
import { headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, PRICE, pay, type Settled } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { type HeaderFields, type WrongHeader, wrongHeader } from "./support/mutations.ts";
import { ADAPTERS, type ResourceServer } from "./support/servers.ts";

const HEADERS = fuzzSize(500, 50_000);
const AT_A_TIME = 8;
const PAYMENTS = 24;
/** Header bytes that Node always accepts, and the status of its own response to too many. */
const NODE_LIMIT = 15_000;
const TOO_LARGE = 431;
/** Texts from files, stack traces and other programs, which no response may contain. */
const INTERNALS = /node_modules|file:\/\/|\.[jt]s:\d|\bat [\w.<>]+ \(|SQLITE|undefined is not|Cannot read/i;

interface Reply {
  readonly status: number;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME });

function send(url: string, values: readonly string[]): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = { "x-payment-proof": values.length === 1 ? values[0]! : [...values] };
    const sent = httpRequest(`${url}/paid/a`, { agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    sent.on("error", (error) => {
      // A server that receives too many header bytes closes the connection, so later requests on it fail too.
      if (sent.reusedSocket) resolve(send(url, values));
      else if (values.join().length > NODE_LIMIT) resolve({ status: TOO_LARGE, text: "" });
      else reject(error);
    });
    sent.end();
  });
}

describe("mutated proof headers", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  /** Settled payments that are never used, so a response that serves one means that a wrong header was accepted. */
  let unused: Settled[];
  const servers: { name: string; server: ResourceServer; paywall: Paywall }[] = [];
  let sold = 0;
  /** The servers' clock; undefined for this machine's. The test sets it to a fixed time, so that no payment expires. */
  let now: number | undefined;
  /** The reasons that the paywalls reported, and how often. */
  const reasons = new Map<string, number>();
  before(async () => {
    world = await openMerchantWorld();
    for (const [name, start] of ADAPTERS) {
      const onEvent = ({ event, reason = event }: PaywallEvent) =>
        void reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      const paywall = await openPaywall(world, { onEvent, clock: () => now ?? Date.now() });
      const server = await start(paywall, () => {
        sold += 1;
        return { status: 200, text: "the goods" };
      });
      servers.push({ name, server, paywall });
    }
    // No two payments have a field in common. There are many, because a paywall limits how often it checks one payment.
    const start = Date.now();
    const terms = (index: number) => ({ price: PRICE, amount: PRICE + BigInt(index), timestamp: start - index });
    unused = await Promise.all(Array.from({ length: PAYMENTS }, (_, index) => pay(world, terms(index))));
  });
  after(async () => {
    agent.destroy();
    for (const { server, paywall } of servers) {
      await server.close();
      await paywall.close();
    }
  });

  function fault({ values }: WrongHeader, { status, text }: Reply): string | undefined {
    if (status === TOO_LARGE) return undefined;
    if (status !== 400 && status !== 402) return `answers ${status}`;
    const body = JSON.parse(text) as Record<string, unknown>;
    if (Object.keys(body).sort().join() !== "error,message") return "has other fields";
    const told = status === 400 ? "Invalid payment proof format" : "Invalid payment proof";
    if (body["error"] !== told) return "says something else";
    // The JSON parser's error quotes some characters of the input back to the sender.
    if (INTERNALS.test(text) && !values.some((value) => INTERNALS.test(value))) return "shows internals";
    return text.length > 500 ? "says too much" : undefined;
  }

  it("are rejected with the responses that the interface specifies", async () => {
    now = Date.now();
    const all = unused.map((one) => JSON.parse(headerOf(one)) as HeaderFields);
    const faults: string[] = [];
    const counts = new Map<number, number>();
    let left = HEADERS;
    const one = async (): Promise<void> => {
      while (left-- > 0) {
        const { name, server } = servers[left % servers.length]!;
        // One for each header: how much of it a header takes depends on this run's hashes.
        const random = new Random(`fuzz of the proof header ${left}`);
        const wrong = wrongHeader(all[left % PAYMENTS]!, all[(left + 1) % PAYMENTS]!, random);
        // Some platforms join repeated headers into one.
        if (wrong.what === "one that comes in two halves" && name === "fetch") continue;
        const reply = await send(server.url, wrong.values);
        counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1);
        const found = fault(wrong, reply);
        if (found !== undefined) faults.push(`${name}: ${wrong.what}: ${found}: ${reply.text.slice(0, 200)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, one));
    expect(faults.slice(0, 20)).to.deep.equal([]);
    expect(sold).to.equal(0);
    // Each check is reached by some headers.
    for (const status of [400, 402]) expect(counts.get(status) ?? 0, String(status)).to.be.above(HEADERS / 10);
    for (const reason of ["HEADER", "TOKEN", "TOKEN_CLAIMS", "BUNDLE", "PROOF", "AMOUNT_PROOF"])
      expect(reasons.get(reason) ?? 0, reason).to.be.above(HEADERS / 100);
  });

  it("do not prevent the valid header from being served", async () => {
    now = undefined;
    const fresh = await pay(world);
    for (const { name, server } of servers) {
      const response = await fetch(`${server.url}/paid/a`, { headers: showing(headerOf(fresh)) });
      expect([name, response.status]).to.deep.equal([name, 200]);
    }
  });
});
