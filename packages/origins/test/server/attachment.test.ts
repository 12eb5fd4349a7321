// What a paywall makes of the origins that payers show, with real proofs. test/origins has the paywall itself.

import type { AttachmentCore, OpenAttachment, PaidProof, PaywallEvent } from "@sotto/resource-server";
import { POOL } from "@sotto/test-chain/pool";
import { eventually } from "@sotto/test-kit/eventually";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { encodeOriginHeader, MAX_ORIGIN_HEADER_LENGTH, type OriginClaim } from "../../src/index.ts";
import { type OriginsOptions, origins, type ShownSet } from "../../src/server.ts";
import { verifier } from "../support/artifacts.ts";
import { CURATOR, Payers } from "../support/payer.ts";

const HOUR_MS = 3_600_000;

describe("origins at a resource server", function () {
  slow(this, "real proofs");
  const payers = new Payers();
  let payer: Wallet;
  let shown: OriginClaim;
  let other: OriginClaim;
  let now: number;
  before(async () => {
    payer = await payers.funded([5_000n, 5_000n]);
    await payers.curator.acceptNew();
    const following = await payers.follow(payer);
    await following.sync();
    const [first, second] = payer.notes();
    shown = await following.prove(first!.leafIndex, payers.set);
    other = await following.prove(second!.leafIndex, payers.set);
    following.close();
    now = payers.curator.heads.at(-1)!.head.time * 1000;
  });

  const events: PaywallEvent[] = [];
  let attachment: OpenAttachment;
  let proofs: number;
  const open = async (changes: Partial<OriginsOptions> = {}) => {
    events.length = 0;
    proofs = 0;
    const { curator: key, name } = payers.set;
    const core: AttachmentCore = {
      origin: "https://data.example",
      deployment: { chainId: 31337n, pool: POOL },
      clock: () => now,
      report: (event) => void events.push(event),
      verify: async (...statement) => {
        proofs += 1;
        // As a paywall does: what is not a proof is not valid.
        return verifier.verify(...statement).catch(() => false);
      },
    };
    const sets = [{ curator: CURATOR, key, name, maxAgeMs: HOUR_MS }];
    attachment = await origins({ sets, fetch: payers.fetch, ...changes }).open(core);
  };
  afterEach(() => attachment.close?.());

  const read = (values: readonly string[], { nullifier }: Pick<OriginClaim, "nullifier"> = shown, timestamp = now) =>
    attachment.read({
      payment: { nullifier, timestamp } as PaidProof,
      header: (name) => (name === "x-payment-origin" ? values : []),
    }) as Promise<readonly ShownSet[]>;
  const reasons = () => events.flatMap(({ event, reason }) => (event === "originIgnored" ? [reason] : []));

  it("are asked for in the same words for every payer", async () => {
    await open();
    const { curator: key, name } = payers.set;
    expect(attachment.asks()).to.deep.equal([{ curator: CURATOR, key, name, maxAgeMs: HOUR_MS }]);
    expect(JSON.parse(JSON.stringify(attachment.asks()))).to.deep.equal(attachment.asks());
  });

  it("name the set and its root, and reach the curator as one claim", async () => {
    await open();
    const { curator: key, name } = payers.set;
    const header = encodeOriginHeader([shown]);
    const expected = [{ curator: CURATOR, key, name, root: shown.maskRoot }];
    expect(await read([header])).to.deep.equal(expected);
    expect(await read([header])).to.deep.equal(expected);
    expect(events.filter(({ event }) => event === "origin")).to.have.length(2);
    const posts = () => payers.asked.filter((line) => line.startsWith("POST")).length;
    const before = posts();
    await attachment.close?.();
    expect(posts() - before).to.equal(1);
  });

  it("are empty without a header, and if they are another payment's, malformed, unknown, too old or false", async () => {
    await open();
    expect([await read([]), events]).to.deep.equal([[], []]);
    const header = encodeOriginHeader([shown]);
    const wrong: [string, () => ReturnType<typeof read>][] = [
      ["ORIGIN_PROOF_INVALID", () => read([header], other)],
      ["ORIGIN_PROOF_INVALID", () => read([encodeOriginHeader([{ ...other, maskRoot: shown.maskRoot }])])],
      ["ORIGIN_MALFORMED", () => read([header, header])],
      ["ORIGIN_MALFORMED", () => read([`${header},${header}`])],
      ["ORIGIN_MALFORMED", () => read([""])],
      ["ORIGIN_MALFORMED", () => read(["x".repeat(MAX_ORIGIN_HEADER_LENGTH + 1)])],
      ["ORIGIN_ROOT_UNKNOWN", () => read([encodeOriginHeader([{ ...shown, maskRoot: 7n }])])],
      ["ORIGIN_ROOT_OLD", () => read([header], shown, now + HOUR_MS)],
    ];
    for (const [reason, showing] of wrong) {
      events.length = 0;
      expect(await showing(), reason).to.deep.equal([]);
      expect(reasons()).to.deep.equal([reason]);
    }
    expect(await read([header]), "the control").to.have.length(1);
    // One that counts is seen beside one that does not.
    expect(await read([encodeOriginHeader([{ ...shown, maskRoot: 7n }, shown])])).to.have.length(1);
  });

  it("survive a thousand hostile headers: none is shown, and nothing throws", async () => {
    await open();
    const header = encodeOriginHeader([shown]);
    const random = new Random("hostile origins");
    const letters = "ABCXYZabcxyz0189-_,=+/ \u0000\u00ff%";
    for (let i = 0; i < fuzzSize(1_000, 20_000); i += 1) {
      const at = random.below(header.length);
      const changes = [
        () => header.slice(0, at) + letters[random.below(letters.length)]! + header.slice(at + 1),
        () => header.slice(0, at),
        () => header.slice(at) + header.slice(0, at),
        () => `${header.slice(0, at)},${header.slice(at)}`,
        () => header.repeat(random.between(2, 9)),
        () => letters[random.below(letters.length)]!.repeat(random.between(1, 4_000)),
      ];
      const text = random.pick(changes)();
      if (text !== header) expect(await read([text]), text).to.deep.equal([]);
    }
    expect(events.every(({ event }) => event === "originIgnored")).to.equal(true);
    expect(await read([header]), "the control").to.have.length(1);
  });

  it("do not count while the curator does not answer: the request is served, and the operator gets an event", async () => {
    const never = new Promise<never>(() => undefined);
    const down: typeof fetch = () => Promise.reject(new TypeError("down"));
    await open({ fetch: down });
    expect(await read([encodeOriginHeader([shown])])).to.deep.equal([]);
    await eventually(async () => events.some(({ reason }) => reason === "CURATOR_UNREACHABLE"));
    await attachment.close?.();
    await open({ fetch: () => never });
    expect(await read([encodeOriginHeader([shown])])).to.deep.equal([]);
    expect([proofs, reasons()]).to.deep.equal([0, ["ORIGIN_ROOT_UNKNOWN"]]);
  });

  it("are configured without mistakes", () => {
    const { curator: key, name } = payers.set;
    const set = { curator: CURATOR, key, name };
    const wrong: object[] = [
      {},
      { sets: [] },
      { sets: [{ ...set, key: "0x1" }] },
      { sets: [{ ...set, curator: "curator.example" }] },
      { sets: [{ ...set, name: "Clean" }] },
      { sets: [{ ...set, maxAgeMs: 1 }] },
      { sets: [{ ...set, mirrors: ["nowhere"] }] },
      { sets: [set, set] },
      { sets: [1, 2, 3, 4, 5].map((i) => ({ ...set, name: `set-${i}` })) },
    ];
    for (const options of wrong)
      expect(() => origins(options as OriginsOptions), JSON.stringify(options))
        .to.throw()
        .with.property("code", "INVALID_OPTION");
    origins({ sets: [set] });
  });
});
