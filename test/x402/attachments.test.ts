// Something that payers show beside payments in x402's format, made up here, with the published client and server.
import type { PayingAttachment } from "@sotto/client";
import { type OpenAttachment, openAttachments, type PaymentAttachment } from "@sotto/resource-server";
import { slow } from "@sotto/test-kit/slow";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { SottoScheme } from "@sotto/x402/client";
import type { SottoRecipient } from "@sotto/x402/server";
import { wrapFetchWithPayment } from "@x402/fetch";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { decode, encode, openResourceServer, type ResourceServer, signRecipient } from "./support/resource-server.ts";
import { clientOf, PRICE } from "./support/selling.ts";

/** The length of what asks for four sets of origins, and of what shows four of them. */
const LONG = { asked: 505, shown: 1_539 };

const memo = (changes: Partial<OpenAttachment> = {}): PaymentAttachment => ({
  name: "memo",
  field: "memo",
  headers: ["X-Payment-Memo"],
  open: () => ({
    nothing: "none",
    asks: () => ({ word: "hello" }),
    read: async ({ payment, header }) => {
      const [text] = header("x-payment-memo");
      return text === undefined ? "none" : `${text} of ${payment.nullifier}`;
    },
    ...changes,
  }),
});

/** Shows the word that is asked for, and a number that differs each time. */
const paying = (changes: Partial<PayingAttachment> = {}): PayingAttachment => {
  let shown = 0;
  return {
    name: "memo",
    header: "X-Payment-Memo",
    field: "memo",
    show: async (asked) => {
      shown += 1;
      return `${(asked as { word: string }).word}-${shown}`;
    },
    ...changes,
  };
};

describe("what payers show beside payments in x402's format", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let recipient: SottoRecipient;
  let server: ResourceServer | undefined;
  let close: () => Promise<void> = async () => undefined;
  /** What the handler saw. */
  const seen: unknown[] = [];
  /** The payloads that were sent, and how many of the next responses get lost. */
  const sent: Record<string, unknown>[] = [];
  let lost = 0;

  before(async () => {
    world = await openWorld();
    const merchant = await openWallet(world);
    recipient = await signRecipient(world, Account.createRandom(), merchant.shieldedAddress);
  });
  afterEach(async () => {
    await server?.close();
    await close();
    server = undefined;
    seen.length = 0;
    sent.length = 0;
  });

  /** A server that sells a report, and its URL. */
  const sell = async (...attachments: readonly PaymentAttachment[]): Promise<string> => {
    const { chainId, pool, serviceUrl: service } = world;
    const opened = await openAttachments(attachments, {
      ...{ origin: "https://data.example", service, chain: { chainId, pool } },
    });
    close = () => opened.close();
    const options = attachments.length === 0 ? {} : { attachments: opened };
    const opening = await openResourceServer(world, recipient, service, options);
    server = opening;
    opening.handler = async (request, response) => {
      seen.push(await opening.scheme.attachmentsOf(request.get("payment-signature")));
      response.json({ report: "paid" });
    };
    return `${opening.origin}/report`;
  };
  const recording: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const header = request.headers.get("payment-signature");
    if (header !== null) sent.push(decode(header)["payload"] as Record<string, unknown>);
    const response = await fetch(request);
    if (header === null || lost === 0) return response;
    lost -= 1;
    throw new TypeError("the answer was lost");
  };
  const payFrom = async (wallet: Wallet, attachments: readonly PayingAttachment[], send = recording) => {
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl], attachments });
    return wrapFetchWithPayment(scheme.track(send), clientOf(scheme));
  };
  const extraOf = async (url: string) => {
    const { accepts } = decode((await fetch(url)).headers.get("payment-required"));
    return (accepts as { extra: Record<string, unknown> }[])[0]!.extra;
  };
  const nullifierOf = (payload = sent[0]): string => (payload!["publicSignals"] as string[])[6]!;

  it("is asked for in the terms, shown in the payload, and seen by the handler", async () => {
    const url = await sell(memo());
    expect((await extraOf(url))["attachments"]).to.deep.equal({ memo: { word: "hello" } });
    const wallet = await payerWith(world, [PRICE]);
    expect((await (await payFrom(wallet, [paying()]))(url)).status).to.equal(200);
    expect(sent.map((payload) => payload["memo"])).to.deep.equal(["hello-1"]);
    expect(seen).to.deep.equal([{ memo: `hello-1 of ${nullifierOf()}` }]);
  });

  it("is nothing at a server that asks for nothing, and from a payer that shows nothing", async () => {
    const wallet = await payerWith(world, [PRICE, PRICE]);
    const silent = await sell();
    expect(await extraOf(silent)).to.not.have.property("attachments");
    expect((await (await payFrom(wallet, [paying()]))(silent)).status).to.equal(200);
    await server!.close();
    const asking = await sell(memo());
    expect((await (await payFrom(wallet, []))(asking)).status).to.equal(200);
    expect(sent.map((payload) => "memo" in payload)).to.deep.equal([false, false]);
    expect(seen).to.deep.equal([undefined, { memo: "none" }]);
  });

  it("is nothing if the service must not see it, because the server sends the payload on", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo());
    expect((await (await payFrom(wallet, [paying({ field: undefined })]))(url)).status).to.equal(200);
    expect([sent.map((payload) => "memo" in payload), seen]).to.deep.equal([[false], [{ memo: "none" }]]);
  });

  it("is the same each time the payment is presented: after a lost answer, a failed handler and a restart", async () => {
    const wallet = await payerWith(world, [PRICE, PRICE]);
    const url = await sell(memo());
    const one = paying();
    const pay = await payFrom(wallet, [one]);
    lost = 1;
    const { handler } = server!;
    server!.handler = (_request, response) => void response.status(500).end();
    await pay(url).then(
      () => expect.fail("the answer was lost"),
      (error: Error) => expect(error.message).to.include("lost"),
    );
    expect((await pay(url)).status).to.equal(500);
    server!.handler = handler;
    const restarted = await payFrom(wallet, [one]);
    expect((await restarted(url)).status).to.equal(200);
    expect(sent.map((payload) => payload["memo"])).to.deep.equal(["hello-1", "hello-1", "hello-1"]);
    expect(new Set(sent.map(nullifierOf)).size).to.equal(1);
    expect(seen).to.deep.equal([{ memo: `hello-1 of ${nullifierOf()}` }]);
    expect((await restarted(url)).status).to.equal(200);
    expect(sent.at(-1)!["memo"], "the control: another payment").to.equal("hello-2");
  });

  it("is the same for a challenge that comes again after its payment was closed", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo());
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl], attachments: [paying()] });
    const required = decode((await fetch(url)).headers.get("payment-required")) as never;
    const first = await clientOf(scheme).createPaymentPayload(required);
    expect((await scheme.track(fetch)(url, { headers: { "payment-signature": encode(first) } })).status).to.equal(200);
    expect(await wallet.store.list("x402/"), "it is closed").to.deep.equal([]);
    const again = await clientOf(scheme).createPaymentPayload(required);
    expect(again.payload).to.deep.equal(first.payload);
    expect(await wallet.store.list("x402/"), "it stays closed").to.deep.equal([]);
  });

  it("is never shown by a payment that left before it was asked for", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo({ asks: () => undefined }));
    lost = 1;
    server!.handler = (_request, response) => void response.status(500).end();
    await (await payFrom(wallet, [paying()]))(url).catch(() => undefined);
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl], attachments: [paying()] });
    const required = decode((await fetch(url)).headers.get("payment-required")) as {
      accepts: { extra: Record<string, unknown> }[];
    };
    required.accepts[0]!.extra["attachments"] = { memo: { word: "hello" } };
    const { payload } = await clientOf(scheme).createPaymentPayload(required as never);
    expect(nullifierOf(payload)).to.equal(nullifierOf());
    expect(payload).to.not.have.property("memo");
  });

  it("is never shown by a payment that left while nobody asked, after it could not be shown", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo());
    const { show } = paying();
    let isBroken = true;
    const failing = paying({ show: (...asked) => (isBroken ? Promise.reject(new Error("not now")) : show(...asked)) });
    const scheme = await SottoScheme.open({ wallet, services: [world.serviceUrl], attachments: [failing] });
    const required = decode((await fetch(url)).headers.get("payment-required")) as {
      accepts: { extra: Record<string, unknown> }[];
    };
    const silent = structuredClone(required);
    delete silent.accepts[0]!.extra["attachments"];
    const pay = async (terms: object) => (await clientOf(scheme).createPaymentPayload(terms as never)).payload;
    expect(await pay(required).catch(String)).to.include("not now");
    isBroken = false;
    const left = await pay(silent);
    const again = await pay(required);
    expect([left, again].map((payload) => "memo" in payload)).to.deep.equal([false, false]);
    expect(nullifierOf(again)).to.equal(nullifierOf(left));
  });

  it("is read once the payment has settled, even if no handler asks", async () => {
    const wallet = await payerWith(world, [PRICE]);
    let reads = 0;
    const read = async () => {
      reads += 1;
      return "read";
    };
    const url = await sell(memo({ read }));
    server!.handler = (_request, response) => void response.json({ report: "paid" });
    expect((await (await payFrom(wallet, [paying()]))(url)).status).to.equal(200);
    expect(reads).to.equal(1);
  });

  it("is nothing once the request has failed", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo());
    const { scheme } = server!;
    let header: string | undefined;
    server!.handler = (request, response) => {
      header = request.get("payment-signature");
      response.status(500).end();
    };
    expect((await (await payFrom(wallet, [paying()]))(url)).status).to.equal(500);
    expect(header).to.be.a("string");
    expect(await scheme.attachmentsOf(header)).to.equal(undefined);
  });

  it("waits for a note as long as it asks for, also if other notes would be waited for shorter", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo());
    const patient = paying({
      waitMs: 60_000,
      choose: (_, { waitedMs }) => (waitedMs < 1_000 ? { only: () => false } : {}),
    });
    const scheme = await SottoScheme.open({
      ...{ wallet, services: [world.serviceUrl], attachments: [patient], fundsTimeoutMs: 100 },
    });
    expect((await wrapFetchWithPayment(scheme.track(fetch), clientOf(scheme))(url)).status).to.equal(200);
  });

  it("chooses the note that pays, and ends the payment before anything is paid if there is none", async () => {
    const wallet = await payerWith(world, [PRICE, 2n * PRICE]);
    const url = await sell(memo());
    const unwilling = paying({
      choose: () => {
        throw new Error("no note can be shown");
      },
    });
    const failure = await (await payFrom(wallet, [unwilling]))(url).catch(String);
    expect(failure).to.include("no note can be shown");
    expect([sent, wallet.balance().total]).to.deep.equal([[], 3n * PRICE]);
    const larger = paying({ choose: () => ({ only: ({ amount }) => amount === 2n * PRICE }) });
    expect((await (await payFrom(wallet, [larger]))(url)).status).to.equal(200);
    await wallet.scan();
    expect(wallet.notes().filter(({ state }) => state === "spent")).to.have.property("length", 1);
    expect(wallet.notes().find(({ state }) => state === "spent")).to.include({ amount: 2n * PRICE });
  });

  it("does not count if it was stripped, changed to no text, or belongs to a payment that is not settled here", async () => {
    const wallet = await payerWith(world, [PRICE, PRICE]);
    const url = await sell(memo());
    for (const memo of [undefined, { text: "hello-1" }]) {
      const changing: typeof fetch = async (input, init) => {
        const request = new Request(input, init);
        const header = request.headers.get("payment-signature");
        if (header !== null) {
          const payment = decode(header) as { payload: object };
          request.headers.set("payment-signature", encode({ ...payment, payload: { ...payment.payload, memo } }));
        }
        return recording(request);
      };
      expect((await (await payFrom(wallet, [paying()], changing))(url)).status).to.equal(200);
    }
    expect(seen).to.deep.equal([{ memo: "none" }, { memo: "none" }]);
    const { attachmentsOf } = server!.scheme;
    const [, ...signals] = sent[0]!["publicSignals"] as string[];
    const other = { ...sent[0], publicSignals: ["1", ...signals] };
    for (const payment of [undefined, "x", encode({}), encode({ payload: other })])
      expect(await attachmentsOf.call(server!.scheme, payment)).to.equal(undefined);
  });

  it("never takes away what was paid for: a server that asks for something else takes the payment", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const url = await sell(memo({ read: async () => expect.fail("unreadable") }));
    const asking: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const header = response.headers.get("payment-required");
      if (header === null) return response;
      const required = decode(header) as { accepts: { extra: Record<string, unknown> }[] };
      required.accepts[0]!.extra["attachments"] = { memo: { word: "earlier" } };
      return new Response(null, { status: 402, headers: { "payment-required": encode(required) } });
    };
    expect((await (await payFrom(wallet, [paying()], asking))(url)).status).to.equal(200);
    expect(seen).to.deep.equal([{ memo: "none" }]);
  });

  it("fits into the headers of nginx, if it is as long as four sets of origins", async () => {
    const wallet = await payerWith(world, [PRICE]);
    const asked = { word: "a".repeat(LONG.asked - '{"memo":{"word":""}}'.length) };
    const url = await sell(memo({ asks: () => asked }));
    const required = (await fetch(url)).headers.get("payment-required")!;
    expect(required.length).to.be.within(1_900, 3_000);
    const long = paying({ show: async () => "a".repeat(LONG.shown) });
    const headers: string[] = [];
    const measuring: typeof fetch = (input, init) => {
      headers.push(new Request(input, init).headers.get("payment-signature") ?? "");
      return fetch(input, init);
    };
    expect((await (await payFrom(wallet, [long], measuring))(url)).status).to.equal(200);
    expect(headers.at(-1)!.length).to.be.within(7_000, 8_192 - "payment-signature: \r\n".length);
  });
});
