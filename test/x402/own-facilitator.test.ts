// The published facilitator with sotto's scheme, for merchants who run their own facilitator in front of the service.

import { slow } from "@sotto/test-kit/slow";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { bodyOf, PRICE, pay, requirements } from "@sotto/test-world/x402";
import { SottoScheme } from "@sotto/x402/facilitator";
import { x402Facilitator } from "@x402/core/facilitator";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { expect } from "chai";
import { type Middleman, openMiddleman } from "./support/middleman.ts";

describe("the published x402Facilitator", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let between: Middleman;
  let root: bigint;
  let base: string;
  let facilitator: x402Facilitator;
  let scheme: SottoScheme;

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
    between = await openMiddleman(service.origin);
    base = between.url + new URL(service.url).pathname;
    scheme = await SottoScheme.open({ service: `${base}/` });
    facilitator = new x402Facilitator().register(scheme.network, scheme);
  });
  after(async () => {
    await between.close();
    await service.close();
  });
  afterEach(() => {
    between.trouble = (_path, answer) => answer();
  });

  const payment = (changes = {}) => {
    const { paymentPayload, paymentRequirements } = bodyOf(requirements(world, base, changes), pay(world, { root }));
    return [paymentPayload, paymentRequirements] as unknown as [PaymentPayload, PaymentRequirements];
  };
  const failure = (promise: Promise<unknown>): Promise<Error & { code?: string }> =>
    promise.then(
      () => expect.fail("a refusal was expected"),
      (error) => error,
    );

  it("supports what its service supports", async () => {
    const { kinds, signers } = facilitator.getSupported();
    const asked = (await (await fetch(`${service.url}/supported`)).json()) as { kinds: unknown };
    expect(kinds).to.deep.equal(asked.kinds);
    expect(signers).to.deep.equal({ "eip155:*": [service.relayer] });
  });

  it("verifies and settles through its service, each payment once", async () => {
    const [payload, required] = payment();
    expect(await facilitator.verify(payload, required)).to.deep.equal({ isValid: true });
    const [first, second] = await Promise.all([payload, payload].map((one) => facilitator.settle(one, required)));
    expect(first).to.include({ success: true, network: scheme.network });
    expect(second).to.deep.equal(first);
  });

  it("rejects a different payment without asking the service", async () => {
    between.trouble = async () => "lost";
    const [payload] = payment();
    const [, dearer] = payment({ amount: String(PRICE + 1n) });
    const verified = await facilitator.verify(payload, dearer);
    expect([verified.isValid, verified.invalidReason]).to.deep.equal([false, "sotto_amount_mismatch"]);
    const settled = await facilitator.settle(payload, dearer);
    expect([settled.success, settled.errorReason, settled.transaction]).to.deep.equal([
      ...[false, "sotto_amount_mismatch", ""],
    ]);
  });

  it("passes on the service's refusals", async () => {
    const asked = requirements(world, base);
    const { paymentPayload } = bodyOf(asked, pay(world, { root: 12345n }));
    const refused = await facilitator.settle(
      paymentPayload as unknown as PaymentPayload,
      asked as unknown as PaymentRequirements,
    );
    expect([refused.success, refused.errorReason]).to.deep.equal([false, "sotto_unknown_root"]);
  });

  it("reports a payment as neither paid nor refused if the service is unreachable or faulty", async () => {
    const [payload, required] = payment();
    const network = scheme.network;
    const answers = [
      "lost",
      { status: 200, body: "yes" },
      { status: 200, body: "[]" },
      { status: 502, body: JSON.stringify({ error: "Bad Gateway" }) },
      { status: 200, body: JSON.stringify({ success: "true", transaction: `0x${"ab".repeat(32)}`, network }) },
      { status: 200, body: JSON.stringify({ success: true, transaction: "", network }) },
      { status: 200, body: JSON.stringify({ success: true, transaction: "0xab", network }) },
      {
        status: 200,
        body: JSON.stringify({ success: true, transaction: `0x${"ab".repeat(32)}`, network: "eip155:1" }),
      },
      { status: 200, body: JSON.stringify({ success: false, transaction: "x".repeat(70_000), network }) },
    ] as const;
    for (const answer of answers) {
      between.trouble = async () => answer;
      expect(await failure(scheme.settle(payload as never, required))).to.include({ code: "X402_FACILITATOR_FAILED" });
    }
    between.trouble = (_path, answer) => answer();
    expect((await scheme.settle(payload as never, required)).success).to.equal(true);
  });

  it("fails to open on a service that does not support the scheme", async () => {
    for (const body of ["{}", JSON.stringify({ kinds: [], signers: {} }), JSON.stringify({ kinds: "all" })]) {
      between.trouble = async () => ({ status: 200, body });
      expect(await failure(SottoScheme.open({ service: base }))).to.include({ code: "X402_FACILITATOR_FAILED" });
    }
    for (const service of ["", "ftp://pay.example", "https://user@pay.example/zk", "https://pay.example/zk?x=1"])
      expect(await failure(SottoScheme.open({ service }))).to.include({ code: "X402_OPTION_INVALID" });
  });
});
