// Almost valid x402 payments: none is verified, settled or served, and none causes a failure.

import { encodeShieldedAddress, type WireBundle } from "@sotto/protocol";
import type { X402Requirements } from "@sotto/protocol/x402";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { type Answer, post } from "@sotto/test-kit/http";
import { fieldMutation, type Sample } from "@sotto/test-kit/mutations";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { merchantKey, merchantTag } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { bodyOf, pay, requirements } from "@sotto/test-world/x402";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { bundleFor, challenge, encodeHeader, headerOf, show } from "./support/payer.ts";
import { openResourceServer, signRecipient } from "./support/resource-server.ts";

const BODIES = fuzzSize(200, 20_000);
const HEADERS = fuzzSize(200, 20_000);
const AT_ONCE = 12;

/** Fields that the payment depends on. Fields that only the payer checks, such as a signature, are not included. */
const ASKED = ["scheme", "network", "asset", "amount", "payTo"] as const;
const EXTRA = ["pool", "resource", "decimals"] as const;

const fieldsOf = (from: object, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, (from as Record<string, unknown>)[name]]));

interface Wrong {
  readonly what: string;
  readonly asked: object;
  readonly payload: object;
}

/** Changes one field of the requirements or of the payment. */
function* almostRight(
  asked: X402Requirements,
  payload: WireBundle,
  other: WireBundle,
  random: Random,
): Generator<Wrong> {
  const sample = (right: object, different: object): Sample => {
    const same = Object.keys(right).filter(
      (name) => JSON.stringify(right[name as keyof object]) === JSON.stringify(different[name as keyof object]),
    );
    return { path: "", right: right as Sample["right"], other: different as Sample["other"], optional: [], same };
  };
  const samples = {
    payload: sample(payload, other),
    asked: sample(fieldsOf(asked, ASKED), fieldsOf(asked, ASKED)),
    extra: sample(fieldsOf(asked.extra, EXTRA), fieldsOf(asked.extra, EXTRA)),
  };
  for (;;) {
    const where = random.pick(["payload", "payload", "asked", "extra"] as const);
    const mutation = fieldMutation(samples[where], random);
    if (mutation === undefined) continue;
    const [what, wrong] = mutation as [string, object];
    if (where === "payload") yield { what, asked, payload: wrong };
    else if (where === "asked") yield { what, asked: { ...wrong, ...rest(asked, ASKED) }, payload };
    else yield { what, asked: { ...asked, extra: { ...wrong, ...rest(asked.extra, EXTRA) } }, payload };
  }
}

const rest = (from: object, without: readonly string[]) =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !without.includes(name)));

/** Runs `count` mutations, a few at a time. */
async function each(wrongs: Generator<Wrong>, count: number, act: (wrong: Wrong) => Promise<void>): Promise<void> {
  let left = count;
  const run = async () => {
    while (left-- > 0) await act(wrongs.next().value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

describe("mutated x402 payments", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let root: bigint;
  before(async () => {
    world = await openWorld();
    service = await openService({ SOTTO_CLIENT_QUOTA: "1000000" });
    root = world.root;
  });
  after(() => service.close());

  it(`are all rejected by the service (${BODIES}) with the standard's fields, never with 5xx`, async () => {
    const asked = requirements(world, service.url);
    const [payload, other] = [pay(world, { root }), pay(world, { root, resourceUrl: "https://data.example/other" })];
    const wrongs = almostRight(asked, payload, other, new Random("x402 bodies"));
    let count = 0;
    await each(wrongs, BODIES, async ({ what, asked: terms, payload: sent }) => {
      count += 1;
      const path = count % 2 === 0 ? "verify" : "settle";
      const answer: Answer = await post(`${service.url}/${path}`, bodyOf(terms as never, sent as never));
      // The service rejects a body that is too long before it detects the format.
      const said = path === "verify" ? answer.body["isValid"] : answer.body["success"];
      const refused = said === false || answer.status === 413;
      expect([refused, answer.status < 500], `${what}: ${JSON.stringify(answer.body)}`).to.deep.equal([true, true]);
      const { invalidReason, errorReason, code } = answer.body;
      expect(invalidReason ?? errorReason ?? code, what).to.match(/^(?:[a-z0-9_]+|BODY_TOO_LARGE)$/);
    });
    expect((await post(`${service.url}/settle`, bodyOf(asked, payload))).body["success"]).to.equal(true);
  });

  it(`are all rejected by the resource server (${HEADERS})`, async () => {
    const address = encodeShieldedAddress({ encryptionKey: merchantKey, ownerTag: merchantTag });
    const recipient = await signRecipient(world, Account.createRandom(), address);
    const server = closedAfterTest(await openResourceServer(world, recipient, service.url));
    const url = `${server.origin}/report`;
    const accepted = await challenge(url);
    const [payload, other] = [bundleFor(world, root, accepted), bundleFor(world, root, accepted)];
    const random = new Random("x402 headers");
    const wrongs = almostRight(accepted as unknown as X402Requirements, payload, other, random);
    await each(wrongs, HEADERS, async ({ what, asked, payload: sent }) => {
      const { status } = await show(url, encodeHeader(asked, sent));
      // 431 is Node's response to headers that are too long.
      expect(status, what).to.be.oneOf([402, 431]);
    });
    expect(server.served()).to.equal(0);
    expect((await show(url, headerOf(accepted, payload))).status).to.equal(200);
  });
});
