import type { X402Terms } from "@sotto/protocol/x402";
import { rejection } from "@sotto/test-kit/rejection";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { assertTerms } from "../src/client/check.ts";
import type { Payments } from "../src/client/payments.ts";
import { trackFetch } from "../src/client/track.ts";
import { SottoScheme as Payer } from "../src/client.ts";
import { SottoScheme } from "../src/facilitator.ts";

const [pool, token] = [`0x${"11".repeat(20)}`, `0x${"22".repeat(20)}`] as const;
/** The part of a wallet that is read before any request to the chain. */
const wallet = (chainId: bigint) => ({ pool: { chainId, pool, token } }) as unknown as Wallet;
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error: { code: string }) => error.code,
  );

describe("a payer", () => {
  const terms = (chainId: bigint, resource: string) =>
    ({ chainId, pool, asset: token, decimals: 6, amount: 1n, service: "", resource }) as unknown as X402Terms;
  const check = (chainId: bigint, resource: string) =>
    code(
      assertTerms(terms(chainId, resource), undefined, { wallet: wallet(chainId), decimals: 6, services: [], fetch }),
    );

  it("does not pay over plain http", async () => {
    for (const resource of ["http://data.example/report", "http://10.0.0.7/report", "http://127.0.0.1.data.example/"])
      expect(await check(8453n, resource), resource).to.equal("X402_ORIGIN_NOT_SECURE");
    // These pass this check and fail the next one.
    for (const resource of ["https://data.example/report", "http://127.0.0.1:3000/report"])
      expect(await check(8453n, resource), resource).to.equal("X402_SERVICE_NOT_ALLOWED");
    expect(await check(31337n, "http://data.example/report")).to.equal("X402_SERVICE_NOT_ALLOWED");
  });

  it("does not repeat unbounded or unprintable text from the resource server", async () => {
    const remote = ["http://data.example/", "https://data.example/", "mcp://", "\u001b[2J"].map(
      (start) => `${start}\u001b[31m\n${"x".repeat(96 * 1024)}`,
    );
    for (const resource of remote)
      for (const service of remote) {
        const asked = { ...terms(8453n, resource), service } as X402Terms;
        const policy = { wallet: wallet(8453n), decimals: 6, services: [], fetch };
        const { message, details } = await rejection(assertTerms(asked, undefined, policy));
        for (const text of [message, ...Object.values<string>(details)]) {
          expect(text).to.match(/^[\x20-\x7e]*$/);
          expect(text.length).to.be.below(512);
        }
      }
    const names = { ...terms(8453n, "https://data.example/report"), service: "https://zk.example/zk" } as X402Terms;
    const error = await rejection(
      assertTerms(names, undefined, { wallet: wallet(8453n), decimals: 6, services: [], fetch }),
    );
    expect(error.message).to.include("(https://zk.example)");
    expect(error.details).to.deep.equal({ service: "https://zk.example/zk" });
  });

  it("names the other origin of a resource, but nothing else from its URL", async () => {
    const message = async (resource: string) => {
      const challenge = { accepts: [{ scheme: "sotto", extra: { resource } }] };
      const headers = { "payment-required": Buffer.from(JSON.stringify(challenge)).toString("base64") };
      const payments = { idOf: () => undefined } as unknown as Payments;
      const send = trackFetch(async () => new Response("{}", { status: 402, headers }), payments);
      const error = await rejection(send("https://data.example/report"));
      expect(error.code).to.equal("X402_RESOURCE_ELSEWHERE");
      expect(String(error.details["resource"])).to.match(/^[\x20-\x7e]{0,256}$/);
      return error.message;
    };
    const long = `\u001b[31m\n${"x".repeat(60_000)}`;
    const start = "https://data.example asks for a payment for a resource at another origin: ";
    expect(await message(`https://other.example/${long}`)).to.equal(`${start}https://other.example`);
    expect(await message(long)).to.equal(`${start}a string of ${long.length} characters`);
  });

  it("does not allow a service over plain http", async () => {
    for (const service of ["http://zk.example/zk", "http://10.0.0.7:8402/zk"])
      expect(await code(Payer.open({ wallet: wallet(8453n), services: [service] }))).to.equal("X402_OPTION_INVALID");
  });
});

describe("a facilitator's service", () => {
  it("is https or on this machine", async () => {
    const asked: string[] = [];
    const send = async (url: unknown) => {
      asked.push(String(url));
      return Response.json({ kinds: [], signers: {} });
    };
    const open = (service: string) => code(SottoScheme.open({ service, fetch: send }));
    for (const service of ["http://zk.example/zk", "http://10.0.0.7:8402/zk", "http://127.0.0.1.zk.example"])
      expect(await open(service), service).to.equal("X402_OPTION_INVALID");
    expect(asked).to.deep.equal([]);
    // These get the request, but settle nothing.
    for (const service of ["https://zk.example/zk", "http://127.0.0.1:8402/zk"])
      expect(await open(service), service).to.equal("X402_FACILITATOR_FAILED");
    expect(asked).to.have.length(2);
  });
});
