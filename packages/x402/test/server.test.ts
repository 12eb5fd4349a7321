import { deriveKeys, randomSeed } from "@sotto/protocol";
import { expect } from "chai";
import { MemoryUses, SottoScheme, type SottoServerOptions, X402SchemeError, x402Method } from "../src/server.ts";
import type { PaymentRequirements, Price } from "../src/types.ts";

const TOKEN = `0x${"aa".repeat(20)}`;
const POOL = `0x${"bb".repeat(20)}`;
const WALLET = `0x${"cc".repeat(20)}`;
const deployment = { chainId: 31337n, pool: POOL as `0x${string}` };

const recipient = {
  wallet: WALLET,
  shieldedAddress: deriveKeys(randomSeed(), deployment).shieldedAddress(),
  signature: `0x${"11".repeat(65)}`,
  issuedAt: 1_795_243_800,
};
const right: SottoServerOptions = {
  origin: "https://data.example",
  service: "https://zk.example/zk/",
  chainId: 31337,
  pool: POOL,
  asset: TOKEN,
  decimals: 6,
  recipient,
};
/** A store with all methods. */
const done = async () => undefined;
const uses = { claim: async () => "claimed" as const, release: done, reject: done, consume: done, restore: done };
const scheme = new SottoScheme({ ...right, uses });
const network = "eip155:31337";
const kind = { x402Version: 2, scheme: "sotto", network } as const;

async function code(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    expect(error).to.be.instanceOf(X402SchemeError);
    return (error as X402SchemeError).code;
  }
  return "none";
}

describe("the server's scheme", () => {
  it("parses prices exactly", async () => {
    const prices: [Price, string][] = [
      ["$0.05", "50000"],
      ["$ 0.05", "50000"],
      ["0.000001", "1"],
      ["1 USDC", "1000000"],
      ["1.5 usd", "1500000"],
      [0.1, "100000"],
      [3, "3000000"],
      [{ asset: TOKEN, amount: "7" }, "7"],
      [{ asset: TOKEN.toUpperCase().replace("0X", "0x"), amount: "7" }, "7"],
    ];
    for (const [price, amount] of prices)
      expect(await scheme.parsePrice(price, network)).to.deep.equal({ amount, asset: TOKEN, extra: {} });
  });

  it("rejects prices that the token cannot represent", async () => {
    const wrong = [
      ...["0.0000001", "1 EURC", "0", "$0.00", "-1", "1e3", "", "free", "1,000", "0x10", " ", "1.", ".5"],
      ...[0.0000001, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e21],
      ...[
        { asset: POOL, amount: "7" },
        { asset: TOKEN, amount: "0" },
        { asset: TOKEN, amount: "1.5" },
      ],
      ...[{ asset: "USDC", amount: "7" }, { asset: TOKEN, amount: "18446744073709551616" }, null, undefined, true],
    ];
    for (const price of wrong)
      expect(await code(() => scheme.parsePrice(price as Price, network)), String(price)).to.equal(
        "X402_PRICE_INVALID",
      );
  });

  it("rejects inconsistent options", async () => {
    const recipient = (changes: object) => ({ recipient: { ...right.recipient, ...changes } });
    const wrong: object[] = [
      ...["", "data.example", "https://data.example/path", "ftp://data.example", undefined].map((origin) => ({
        origin,
      })),
      ...["", "zk.example", "https://a@zk.example/zk", "https://zk.example/zk?x"].map((service) => ({ service })),
      // Over plain http, an attacker on the network path could steal payments or fake settlements.
      { service: "http://zk.example/zk", chainId: 8453 },
      { service: "http://10.0.0.7/zk", chainId: 8453 },
      // Each method of a store is required.
      ...["claim", "release", "reject", "consume", "restore"].map((name) => ({ uses: { ...uses, [name]: undefined } })),
      { uses: null },
      ...["base", 1.5, undefined].map((chainId) => ({ chainId })),
      ...["", "0x", `0x${"zz".repeat(20)}`].flatMap((address) => [{ pool: address }, { asset: address }]),
      ...[-1, 1.5, 78, "6", undefined].map((decimals) => ({ decimals })),
      recipient({ wallet: "me" }),
      ...["", "0x", "0x1", `0x${"11".repeat(2049)}`, undefined].map((signature) => recipient({ signature })),
      { recipient: undefined },
      recipient({ shieldedAddress: `0x${"00".repeat(64)}` }),
    ];
    for (const changes of wrong)
      expect(await code(() => new SottoScheme({ ...right, ...changes })), JSON.stringify(changes)).to.equal(
        "X402_OPTION_INVALID",
      );
    for (const changes of [
      { service: "http://127.0.0.1:8402/zk", chainId: 8453, uses: new MemoryUses() },
      { service: "http://zk.example/zk" },
    ])
      expect(await code(() => new SottoScheme({ ...right, ...changes })), JSON.stringify(changes)).to.equal("none");
  });

  it("requires a store on chains that are not local", async () => {
    for (const chainId of [8453, 8453n]) {
      const make = (uses?: MemoryUses) =>
        new SottoScheme({ ...right, chainId, ...(uses === undefined ? {} : { uses }) });
      expect(await code(() => make())).to.equal("X402_OPTION_INVALID");
      for (const advice of [/uses: paywall\.uses/, /uses: new MemoryUses\(\)/, /8453/])
        expect(() => make()).to.throw(advice);
      expect(await code(() => make(new MemoryUses()))).to.equal("none");
    }
    for (const chainId of [31337, 1337n])
      expect(await code(() => new SottoScheme({ ...right, chainId })), String(chainId)).to.equal("none");
  });

  it("does not open if the recipient's wallet did not sign", async () => {
    const call = async () => `0x${"00".repeat(32)}`;
    expect(await code(() => SottoScheme.open(right, call))).to.equal("X402_OPTION_INVALID");
  });

  const requirements: PaymentRequirements = {
    scheme: "sotto",
    network,
    asset: TOKEN,
    amount: "50000",
    payTo: WALLET,
    maxTimeoutSeconds: 600,
    extra: {},
  };

  it("adds the fields that a payer needs, and caps the timeout at a payment's lifetime", async () => {
    const enhanced = await scheme.enhancePaymentRequirements(requirements, { ...kind, extra: { artifactSet: "set" } });
    expect(enhanced).to.deep.include({ payTo: WALLET, maxTimeoutSeconds: 300 });
    expect(enhanced.extra).to.deep.equal({
      pool: POOL,
      decimals: 6,
      service: "https://zk.example/zk",
      artifactSet: "set",
    });
  });

  it("rejects routes with another recipient or pool", async () => {
    const enhance = (changes: Partial<PaymentRequirements>) => () =>
      scheme.enhancePaymentRequirements({ ...requirements, ...changes }, kind);
    expect(await code(enhance({ payTo: POOL }))).to.equal("X402_OPTION_INVALID");
    expect(await code(enhance({ network: "eip155:1" }))).to.equal("X402_OPTION_INVALID");
  });

  it("asks for attachments in the requirements, on which no payment depends", async () => {
    const attachments = { asked: { memo: { max: 20 } }, read: async () => ({}) };
    const asking = new SottoScheme({ ...right, uses, attachments });
    const base = {
      scheme: "sotto",
      network,
      asset: TOKEN,
      amount: "1",
      payTo: WALLET,
      maxTimeoutSeconds: 300,
      extra: {},
    };
    const { extra } = await asking.enhancePaymentRequirements({ ...base, network }, kind);
    expect(extra["attachments"]).to.deep.equal({ memo: { max: 20 } });
    expect(asking.dynamicExtraFields).to.include("attachments");
    const silent = new SottoScheme({ ...right, uses, attachments: { ...attachments, asked: {} } });
    for (const one of [scheme, silent])
      expect((await one.enhancePaymentRequirements({ ...base, network }, kind)).extra).not.to.have.property(
        "attachments",
      );
  });

  it("does not open if attachments are not opened, or ask for more than the header has room for", () => {
    const opening = (attachments: unknown) => () => new SottoScheme({ ...right, uses, attachments } as typeof right);
    expect(opening([{ name: "memo", open: () => ({}) }]))
      .to.throw("openAttachments")
      .with.property("code", "X402_OPTION_INVALID");
    const asking = (bytes: number) => opening({ asked: { memo: "a".repeat(bytes) }, read: async () => ({}) });
    expect(asking(700)()).to.be.instanceOf(SottoScheme);
    expect(asking(1_500))
      .to.throw(/^attachments ask for 1511 bytes of JSON, \d+ more than fit/)
      .with.property("code", "X402_OPTION_INVALID");
  });

  it("names resources on its own origin, once, and ignores other schemes", async () => {
    const other = { ...requirements, scheme: "exact", extra: { name: "USDC" } };
    const accepts = [other, requirements];
    const { shieldedAddress, signature, issuedAt } = recipient;
    const ask = async (url: string, list = accepts) =>
      scheme.enrichPaymentRequiredResponse({
        resourceInfo: { url },
        paymentRequiredResponse: { x402Version: 2, resource: { url }, accepts: list },
      });
    const first = await ask("http://evil.example:81/report?page=2#top");
    expect(first[0]).to.deep.equal(other);
    expect(first[1]!.extra["resource"]).to.equal("https://data.example/report?page=2");
    expect(first[1]!.extra["challenge"]).to.match(/^zk_req_/);
    expect(first[1]!.extra["recipient"]).to.deep.equal({ shieldedAddress, signature, issuedAt });
    expect(await ask("http://evil.example/other", first)).to.deep.equal(first);
    expect((await ask("mcp://tool/report"))[1]!.extra["resource"]).to.equal("mcp://tool/report");
    expect(await code(() => ask("no url"))).to.equal("X402_OPTION_INVALID");
  });

  it("knows only its own token's decimals", () => {
    expect(scheme.getAssetDecimals(TOKEN, network)).to.equal(6);
    expect(scheme.getAssetDecimals(POOL, network)).to.equal(undefined);
    expect(scheme.getAssetDecimals(TOKEN, "eip155:1")).to.equal(undefined);
  });
});

describe("x402 as a method of a paywall", () => {
  it("leaves room for the headers of its challenge", () => {
    const paywall = (bytes: number) => ({
      ...{ origin: right.origin, service: "https://pay.example/zk" },
      addresses: [65, bytes].map((size) => ({
        signature: `0x${"00".repeat(size)}`,
        binding: { phone: "", service: "" },
      })),
    });
    const method = x402Method(() => expect.fail("not asked"));
    for (const bytes of [65, 455]) expect(method.open(paywall(bytes))).to.have.property("offer");
    expect(() => method.open(paywall(512)))
      .to.throw(/^with x402, recipient\.signature \(1026\)/)
      .with.property("code", "X402_OPTION_INVALID");
  });
});
