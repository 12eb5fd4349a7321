// Something that payments show beside their proofs, which this package does not know.
import { expectRejected } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { SEED } from "../../wallet/test/support/merchant.ts";
import { dyingStore } from "../../wallet/test/support/world.ts";
import type { WrapOptions } from "../src/fetch/options.ts";
import { wrapFetch } from "../src/fetch/wrap.ts";
import { askedAttachments, attach, attachedHeaders } from "../src/purchase/attach.ts";
import type { AttachedPayment, AttachmentRecord, PayingAttachment } from "../src/purchase/attachment.ts";
import type { PurchaseError } from "../src/purchase/errors.ts";
import { ORIGIN, openScene, type Scene } from "./support/scene.ts";

/** Shows a memo and a number that differs each time it is asked. */
const memo = (shown: AttachedPayment[] = [], changes: Partial<PayingAttachment> = {}): PayingAttachment => ({
  name: "memo",
  header: "X-Payment-Memo",
  field: "memo",
  async show(asked, payment) {
    shown.push(payment);
    return `${(asked as { word: string }).word}-${shown.length}`;
  },
  ...changes,
});

describe("what payments show beside their proofs", () => {
  /** What the service and the merchant saw: the field of /verify, and the header beside a proof. */
  let seen: { readonly nullifier: string; readonly memo: unknown }[];

  async function open(asked: object = { memo: { word: "hello" } }) {
    const scene = await openScene();
    const { merchant, service } = scene;
    seen = [];
    service.before = (path, body) => {
      if (path === "verify") seen.push({ nullifier: (body["publicSignals"] as string[])[6]!, memo: body["memo"] });
      return undefined;
    };
    merchant.misbehave = async ({ headers }, answer) => {
      const response = await answer();
      const proof = headers.get("x-payment-proof");
      if (proof !== null)
        seen.push({ nullifier: JSON.parse(proof).publicSignals[6], memo: headers.get("x-payment-memo") ?? undefined });
      if (response.status !== 402) return response;
      const body = (await response.json()) as { payment: object };
      return Response.json({ ...body, payment: { ...body.payment, ...asked } }, response);
    };
    return scene;
  }

  const wrap = (scene: Scene, changes: Partial<WrapOptions> = {}) =>
    wrapFetch(scene.merchant.fetch, scene.payer, scene.terms({ attachments: [memo()], ...changes }));

  it("is shown to the service first and then to the server, if the 402 asks for it", async () => {
    const scene = await open();
    const shown: AttachedPayment[] = [];
    const pay = wrap(scene, { attachments: [memo(shown)] });
    expect(await (await pay(`${ORIGIN}/a`)).text()).to.equal("served /a");
    const [{ nullifier = 0n, note } = {}] = shown;
    const spent = scene.payer.notes().find((note) => note.nullifier === nullifier);
    expect([shown.length, spent?.leafIndex]).to.deep.equal([1, note?.leafIndex]);
    const expected = { nullifier: String(nullifier), memo: "hello-1" };
    expect(seen).to.deep.equal([expected, expected]);
    // Not a word to those who do not ask.
    const silent = await open({});
    await wrap(silent)(`${ORIGIN}/a`);
    expect(seen.map((each) => each.memo)).to.deep.equal([undefined, undefined]);
  });

  it("leaves a header of the caller alone, and shows nothing if there is nothing to show", async () => {
    const scene = await open();
    const pay = wrap(scene);
    await pay(`${ORIGIN}/a`, { headers: { "x-payment-memo": "mine" } });
    expect(seen.map((each) => each.memo)).to.deep.equal(["hello-1", "mine"]);
    const nothing = await open();
    await wrap(nothing, { attachments: [memo([], { show: async () => undefined })] })(`${ORIGIN}/a`);
    expect(seen.map((each) => each.memo)).to.deep.equal([undefined, undefined]);
  });

  it("is the same after a crash at each write, and the purchase is paid once", async () => {
    let died = 0;
    const sotto = { key: "once" };
    for (let writes = 0; ; writes += 1) {
      const scene = await open();
      const disk = new MemoryStore();
      const { world } = scene;
      const shown: AttachedPayment[] = [];
      const live = async () => {
        scene.payer = await world.wallet({ seed: SEED, store: dyingStore(disk, writes, true) });
        return wrap(scene, { attachments: [memo(shown)] })(`${ORIGIN}/a`, { sotto });
      };
      const first = await live().catch((error: Error) => error);
      if (first instanceof Response) break;
      died += 1;
      scene.payer = await world.wallet({ seed: SEED, store: disk });
      const again = wrap(scene, { attachments: [memo(shown)] })(`${ORIGIN}/a`, { sotto });
      const second = await again.catch((error: PurchaseError) => error);
      if (second instanceof Response) expect(await second.text()).to.equal("served /a");
      else expect(second.code).to.equal("PURCHASE_FINISHED");
      expect(await scene.paid()).to.equal(10n);
      for (const { nullifier } of seen) {
        const texts = new Set(seen.filter((each) => each.nullifier === nullifier).map((each) => each.memo));
        expect(texts.size, `after ${writes} writes`).to.equal(1);
        expect([...texts][0], "something is shown").to.match(/^hello-/);
      }
    }
    expect(died).to.be.greaterThan(6);
  });

  it("is shown once more, and not paid again, at a server that refuses it forever", async () => {
    const scene = await open();
    const { misbehave } = scene.merchant;
    scene.merchant.misbehave = async (request, answer) => {
      const response = (await misbehave(request, answer))!;
      if (!request.headers.has("x-payment-proof")) return response;
      return Response.json({ error: "stale" }, { status: 402 });
    };
    const shown: AttachedPayment[] = [];
    for (let call = 0; call < 3; call += 1)
      await expectRejected("PAID_BUT_REFUSED", () => wrap(scene, { attachments: [memo(shown)] })(`${ORIGIN}/a`));
    expect(shown).to.have.length(1);
    expect(await scene.paid()).to.equal(10n);
  });

  it("chooses the notes that may pay, waits for one, or ends the purchase before anything is paid", async () => {
    const scene = await open();
    const large = scene.payer.notes().find(({ amount }) => amount === 20_000n)!;
    const only: PayingAttachment["choose"] = () => ({ only: ({ leafIndex }) => leafIndex === large.leafIndex });
    await wrap(scene, { attachments: [memo([], { choose: only })] })(`${ORIGIN}/a`);
    expect(seen[0]?.nullifier, "not the smallest one").to.equal(String(large.nullifier));

    const waited: number[] = [];
    const later: PayingAttachment["choose"] = (_asked, { waitedMs }) => {
      waited.push(waitedMs);
      return { only: () => waited.length > 1 };
    };
    await wrap(scene, { attachments: [memo([], { choose: later })], fundsTimeoutMs: 5_000 })(`${ORIGIN}/b`);
    expect([waited.length, waited[0]]).to.deep.equal([2, 0]);
    expect(waited[1]).to.be.greaterThan(0);

    const longer: PayingAttachment["choose"] = (_asked, { waitedMs }) => ({ only: () => waitedMs > 300 });
    await wrap(scene, { attachments: [memo([], { choose: longer, waitMs: 60_000 })], fundsTimeoutMs: 0 })(
      `${ORIGIN}/b2`,
    );
    const forever = memo([], { choose: () => ({ only: () => false }), waitMs: 1 });
    await expectRejected("FUNDS_TIMED_OUT", () =>
      wrap(scene, { attachments: [forever], fundsTimeoutMs: 0 })(`${ORIGIN}/c`),
    );

    const paid = await scene.paid();
    const refuse: PayingAttachment["choose"] = () => Promise.reject(new Error("none will do"));
    const refused = await wrap(scene, { attachments: [memo([], { choose: refuse })] })(`${ORIGIN}/c`).catch(String);
    expect(refused).to.equal("Error: none will do");
    const never: PayingAttachment["choose"] = () => ({ only: () => false });
    await expectRejected("FUNDS_TIMED_OUT", () =>
      wrap(scene, { attachments: [memo([], { choose: never })] })(`${ORIGIN}/c`),
    );
    const unable = memo([], { show: () => Promise.reject(new Error("cannot prove")) });
    expect(await wrap(scene, { attachments: [unable] })(`${ORIGIN}/c`).catch(String)).to.equal("Error: cannot prove");
    const wrong = memo([], { show: async () => "two\r\nlines" });
    await expectRejected("PURCHASE_INVALID", () => wrap(scene, { attachments: [wrong] })(`${ORIGIN}/c`));
    expect(await scene.paid(), "nothing was paid").to.equal(paid);
    await wrap(scene)(`${ORIGIN}/c`);
    expect(await scene.paid(), "the control").to.equal(paid + 10n);
  });

  describe("in a later attempt", () => {
    const asks = new Map([["memo", { word: "hello" }]]);
    let one: PayingAttachment;
    beforeEach(() => {
      one = memo();
    });
    /** What a payment with this id shows, after it was sent or not. */
    const attached = async (attachments: readonly AttachmentRecord[], sent: boolean) => {
      const scene = await openScene();
      const [note] = scene.payer.notes();
      return attach(scene.payer, [one], attachments, payment(note!.nullifier!, sent));
    };
    const payment = (nullifier: bigint, hasLeft: boolean) => ({ id: "one", nullifier, hasLeft, signal: undefined });
    const headersOf = (attachments: readonly AttachmentRecord[]) => attachedHeaders(attachments, "one");

    it("is the same, even if a 402 in between does not ask for it", async () => {
      const first = await attached(askedAttachments([memo()], asks), false);
      expect(headersOf(first)).to.deep.equal({ "X-Payment-Memo": "hello-1" });
      const silent = await attached(askedAttachments([memo()], new Map(), first), true);
      expect(headersOf(silent)).to.deep.equal({});
      const again = askedAttachments([memo()], asks, silent);
      expect(headersOf(await attached(again, true))).to.deep.equal({ "X-Payment-Memo": "hello-1" });
    });

    it("is nothing, if the payment left without it", async () => {
      const asked = askedAttachments([memo()], asks);
      expect(headersOf(await attached(asked, true)), "no 402 had asked").to.deep.equal({});
      const scene = await openScene();
      const without = await attach(scene.payer, undefined, asked, payment(1n, false));
      expect(headersOf(await attached(without, false)), "the attachment was missing").to.deep.equal({});
    });
  });

  it("that only prefers notes does not make a payment wait for notes that are kept apart", async () => {
    const scene = await open();
    scene.payer.keepApart(({ leafIndex }) => String(leafIndex));
    const { merchant } = scene;
    const notes = scene.payer.notes().map(({ amount }) => Number(amount));
    merchant.price = BigInt(Math.max(...notes) + 1);
    const prefers = memo([], { choose: () => ({ prefer: () => true }) });
    const changes = { attachments: [prefers], fundsTimeoutMs: 500, maxPerRequest: 1_000_000n };
    await expectRejected("NOTES_APART", () => wrap(scene, changes)(`${ORIGIN}/a`));
    const excludes = memo([], { choose: () => ({ only: ({ leafIndex }) => leafIndex === 0 }) });
    await expectRejected("FUNDS_TIMED_OUT", () => wrap(scene, { ...changes, attachments: [excludes] })(`${ORIGIN}/b`));
  });

  it("has names of its own", async () => {
    const scene = await open();
    const wrong: object[] = [
      { name: "Memo" },
      { header: "X-Payment-Proof" },
      { header: "Cookie" },
      { header: "not a header" },
      { field: "no field" },
      { field: "nullifier2" },
      { field: "proof" },
      { field: "artifactSet" },
      { show: undefined },
      { choose: "note" },
      { waitMs: -1 },
      { waitMs: "1" },
    ];
    for (const changes of wrong)
      await expectRejected("FETCH_OPTION_INVALID", async () =>
        wrap(scene, { attachments: [{ ...memo(), ...changes } as PayingAttachment] }),
      );
    await expectRejected("FETCH_OPTION_INVALID", async () => wrap(scene, { attachments: [memo(), memo()] }));
    const other = { name: "note", header: "X-Payment-Note" };
    await expectRejected("FETCH_OPTION_INVALID", async () => wrap(scene, { attachments: [memo(), memo([], other)] }));
    wrap(scene, { attachments: [memo(), memo([], { ...other, field: "note" })] });
  });
});
