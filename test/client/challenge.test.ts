// 402 responses that try to make a wallet pay the wrong recipient, pay the wrong amount, pay for the wrong resource, or
// pay through the wrong service. The client rejects each one before it proves anything.

import { openPurchases, type PayingFetch, type WrapOptions, wrapFetch } from "@sotto/client";
import {
  BINDING_LIFETIME_SECONDS,
  BINDING_SLOT_SECONDS,
  bindingOfInstructions,
  bindingTypedData,
  type PaymentInstructions,
  type ShieldedAddressBinding,
} from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { SmallServer } from "@sotto/test-world/small-server";
import { TrapdoorProver } from "@sotto/test-world/trapdoor-prover";
import { openWallet, openWorld, payerWith, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";

const PRICE = 10_000n;
type Payment = PaymentInstructions["payment"];

describe("a forged 402", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let server: SmallServer;
  let wallet: Wallet;
  let pay: PayingFetch;
  const prover = new TrapdoorProver();
  const options = (): WrapOptions => ({ services: [world.serviceUrl], maxPerRequest: PRICE });

  before(async () => {
    world = await openWorld();
    server = await SmallServer.open(world, await openWallet(world), { price: PRICE });
    // The wallet is funded, so it would pay if the client did not reject a 402.
    wallet = await payerWith(world, [1_000_000n], { prover });
    pay = wrapFetch(fetch, wallet, options());
  });
  after(() => server?.close());

  async function refuses(code: string, what: string, ...tampered: unknown[]): Promise<void> {
    for (const [index, body] of tampered.entries()) {
      const name = `${what} ${index}`;
      const shown = server.shown;
      server.options.tamper = (honest) => (typeof body === "function" ? body(honest) : body);
      const error = await rejection(pay(`${server.url}/report`));
      expect([name, error.code]).to.deep.equal([name, code]);
      expect(server.shown, name).to.equal(shown);
    }
    expect(prover.asked).to.deep.equal([]);
    expect(await openPurchases(wallet)).to.deep.equal([]);
  }
  const changed = (changes: Partial<Record<keyof Payment, unknown>>) => (honest: PaymentInstructions) => ({
    ...honest,
    payment: { ...honest.payment, ...changes },
  });
  const recipient = (changes: object) => (honest: PaymentInstructions) => ({
    ...honest,
    payment: { ...honest.payment, recipient: { ...honest.payment.recipient, ...changes } },
  });
  const resource = (url: string) => (honest: PaymentInstructions) => ({
    ...honest,
    metadata: { ...honest.metadata, resource: url },
  });

  it("is rejected for another chain, pool or token", () =>
    refuses(
      "CHALLENGE_MISMATCH",
      "place",
      changed({ chainId: "1" }),
      changed({ pool: `0x${"11".repeat(20)}` }),
      changed({ asset: `0x${"22".repeat(20)}` }),
      changed({ decimals: 7, amount: 0.001 }),
    ));

  it("is rejected with two different prices or no price", () =>
    refuses(
      "CHALLENGE_INVALID",
      "price",
      ...[1e-7, 0.1000000001, 1e300, -0.01, 0, "0.01", null, 0.02, [0.01], { valueOf: 0.01 }].map((amount) =>
        changed({ amount }),
      ),
      ...["10001", "0", "-10000", "010000", "1e4", "0x2710", "10000.0", " 10000", 10_000, String(1n << 64n), ""].map(
        (amountBaseUnits) => changed({ amountBaseUnits }),
      ),
      changed({ decimals: -1 }),
      changed({ decimals: 1e9 }),
    ));

  it("is rejected with a malformed header limit, or one that is too small for any proof", async () => {
    const header = (maxHeaderLength: unknown) => (honest: PaymentInstructions) => ({
      ...honest,
      payment: { ...honest.payment, zkProof: { ...honest.payment.zkProof, maxHeaderLength } },
    });
    await refuses("PROOF_HEADER_TOO_LONG", "limit", ...[1, 1024, 4000].map(header));
    await refuses("CHALLENGE_INVALID", "limit", ...[0, -1, 8192.5, "8192", null, [8192], 1e300].map(header));
  });

  it("is rejected with a price above the limit", async () => {
    await refuses("REQUEST_LIMIT_EXCEEDED", "price", changed({ amount: 0.010001, amountBaseUnits: "10001" }));
    await refuses("REQUEST_LIMIT_EXCEEDED", "price", changed({ amount: 1e12, amountBaseUnits: "1000000000000000000" }));
  });

  it("is rejected for another origin or another resource of this origin", () =>
    refuses(
      "RESOURCE_MISMATCH",
      "resource",
      resource("https://other.example/report"),
      resource(server.url.replace("http:", "https:")),
      resource(`${server.url}/other`),
      resource(`${server.url}/report?x=1`),
      resource(`${server.url}/report/`),
      resource(`${server.url}/Report`),
      resource(`${server.url}/report#x`),
      resource(`${server.url.replace("//", "//user@")}/report`),
      resource(`${server.url}.evil.example/report`),
    ));

  it("is rejected for a service that is not allowed", () =>
    refuses(
      "ENDPOINT_NOT_ALLOWED",
      "endpoint",
      changed({ verifyEndpoint: "https://evil.example/zk/verify", settleEndpoint: "https://evil.example/zk/settle" }),
      changed({ settleEndpoint: "https://evil.example/zk/settle" }),
      changed({ verifyEndpoint: `${world.serviceUrl}/verify?to=evil` }),
      changed({ verifyEndpoint: `${world.serviceUrl}/../verify` }),
      changed({ verifyEndpoint: `${world.serviceUrl.replace("//", "//x@")}/verify` }),
      changed({ verifyEndpoint: `${world.serviceUrl}/settle` }),
    ));

  it("is rejected for a recipient key that the recipient's wallet did not sign", async () => {
    const stranger = await openWallet(world);
    const other = Account.createRandom();
    await refuses(
      "RECIPIENT_NOT_SIGNED",
      "recipient",
      // The server's wallet with the attacker's key.
      recipient({ shieldedAddress: stranger.shieldedAddress }),
      recipient({ wallet: other.address.toLowerCase() }),
      (honest: PaymentInstructions) => recipient({ issuedAt: honest.payment.recipient.issuedAt - 300 })(honest),
      recipient({ service: "https://evil.example" }),
      recipient({ phone: "+14155550100" }),
      recipient({ signature: `0x${"11".repeat(65)}` }),
      recipient({ signature: `0x${"00".repeat(65)}` }),
    );
    await refuses("CHALLENGE_INVALID", "unsigned", recipient({ signature: "0x" }), recipient({ signature: undefined }));
  });

  it("is rejected if the recipient's signature is by another wallet, for another pool, expired or not yet valid", async () => {
    const signed = async (signer: Pick<Account, "signTypedData">, changes: Partial<ShieldedAddressBinding>) => {
      const honest = await server.instructions("/report");
      const { domain, types, message } = bindingTypedData({ ...bindingOfInstructions(honest), ...changes });
      const { issuedAt = honest.payment.recipient.issuedAt } = changes;
      return recipient({ signature: await signer.signTypedData(domain, types, message), issuedAt })(honest);
    };
    const now = Math.floor(Date.now() / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
    await refuses(
      "RECIPIENT_NOT_SIGNED",
      "signature",
      await signed(Account.createRandom(), {}),
      await signed(server.account, { chainId: 1n }),
      await signed(server.account, { pool: `0x${"11".repeat(20)}` }),
      await signed(server.account, { issuedAt: now - BINDING_LIFETIME_SECONDS - BINDING_SLOT_SECONDS }),
      await signed(server.account, { issuedAt: now + 3 * BINDING_SLOT_SECONDS }),
    );
  });

  it("is rejected with a malformed body", async () => {
    const raw = (text: string) => {
      server.options.misbehave = (_, response) => {
        response.writeHead(402, { "www-authenticate": "x402-zk" }).end(text);
        return true;
      };
    };
    const honest = JSON.stringify(await server.instructions("/report"));
    for (const text of ["", "no", "[]", "null", "{}", honest.slice(1), `${" ".repeat(70_000)}${honest}`]) {
      raw(text);
      expect((await rejection(pay(`${server.url}/report`))).code, text.slice(0, 20)).to.equal("CHALLENGE_INVALID");
    }
    delete server.options.misbehave;
    expect(prover.asked).to.deep.equal([]);
  });

  it("is returned to the caller if its scheme is another one", async () => {
    for (const challenge of [undefined, "Basic realm=x402-zk", "x402", "x402-zkp", "y-x402-zk"]) {
      server.options.misbehave = (_, response) => {
        response.writeHead(402, challenge === undefined ? {} : { "www-authenticate": challenge }).end("pay me");
        return true;
      };
      const response = await pay(`${server.url}/report`);
      expect([response.status, await response.text()], challenge).to.deep.equal([402, "pay me"]);
    }
    delete server.options.misbehave;
    expect(prover.asked).to.deep.equal([]);
  });

  it("is rejected after a redirect to another origin", async () => {
    const evil = await SmallServer.open(world, await openWallet(world), { price: PRICE });
    server.options.misbehave = (_, response) => {
      response.writeHead(302, { location: `${evil.url}/report` }).end();
      return true;
    };
    try {
      expect((await rejection(pay(`${server.url}/report`))).code).to.equal("CHALLENGE_REDIRECTED");
    } finally {
      delete server.options.misbehave;
      await evil.close();
    }
    expect([evil.challenges, evil.shown]).to.deep.equal([1, 0]);
    expect(prover.asked).to.deep.equal([]);
  });

  it("is rejected if the wallet differs from the previous one, unless confirmed", async () => {
    delete server.options.tamper;
    expect((await pay(`${server.url}/report`)).status).to.equal(200);
    const known = server.account.address.toLowerCase();
    const thief = Account.createRandom();
    const offered = thief.address.toLowerCase();
    const stolen = async (): Promise<PaymentInstructions> => {
      const honest = recipient({ wallet: offered })(await server.instructions("/report")) as PaymentInstructions;
      const { domain, types, message } = bindingTypedData(bindingOfInstructions(honest));
      return recipient({ signature: await thief.signTypedData(domain, types, message) })(honest) as PaymentInstructions;
    };
    const body = await stolen();
    prover.asked.length = 0;
    await refuses("RECIPIENT_CHANGED", "wallet", body);
    const asked: unknown[] = [];
    const confirming = (answer: boolean) =>
      wrapFetch(fetch, wallet, {
        ...options(),
        maxPerRequest: PRICE,
        confirmRecipient: (change) => {
          asked.push(change);
          return answer;
        },
      });
    expect((await rejection(confirming(false)(`${server.url}/report`))).code).to.equal("RECIPIENT_CHANGED");
    expect(asked).to.deep.equal([{ host: server.host, known, offered }]);
    // After confirmation the client pays, but this server does not know the new wallet and refuses; another test covers
    // that.
    expect((await rejection(confirming(true)(`${server.url}/report`))).code).to.equal("PAID_BUT_REFUSED");
    expect(asked).to.have.length(2);
  });

  it("is not suspected if its resource URL parses to the requested URL", async () => {
    server.options.tamper = resource(`${server.url}/a/../paid/./x`);
    const other = await payerWith(world, [100_000n]);
    // The client pays for the URL exactly as the server writes it, even though this server does not accept it.
    const error = await rejection(wrapFetch(fetch, other, options())(`${server.url}/paid/x`));
    expect(error).to.include({ code: "PAID_BUT_REFUSED" });
    expect(error.details["resource"]).to.equal(`${server.url}/a/../paid/./x`);
  });
});
