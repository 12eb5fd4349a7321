// A paywall with MPP on each adapter: what it asks for, what it accepts, and what it refuses.

import { createHmac } from "node:crypto";
import { request as send } from "node:http";
import {
  bodyDigest,
  challengeBinding,
  encodeReceipt,
  type Json,
  MAX_CREDENTIAL_LENGTH,
  type MppChallenge,
  parseCharge,
  parseReceipt,
} from "@sotto/mpp";
import { describeMatrix } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { forge, headerOf, showing } from "@sotto/test-world/paywall/payments";
import { type MerchantWorld, openMerchantWorld, PRICE, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { ADAPTERS } from "../resource-server/support/servers.ts";
import {
  challengeOf,
  credential,
  type MppServer,
  type MppServerOptions,
  openMppServer,
  paid,
  resourceOf,
  SECRET,
} from "./support/mpp-server.ts";

const PROBLEMS = "https://paymentauth.org/problems/";

/** A challenge with another value, and an id that a server with this secret would give it. */
const reissued = (challenge: MppChallenge, change: Partial<MppChallenge>, secret = SECRET): MppChallenge => {
  const changed = { ...challenge, ...change };
  return { ...changed, id: createHmac("sha256", secret).update(challengeBinding(changed)).digest("base64url") };
};

describe("a paywall with MPP", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  before(async () => {
    world = await openMerchantWorld();
  });

  describeMatrix("on", ADAPTERS, (start, attack) => {
    let opened: MppServer | undefined;
    const open = async (options: MppServerOptions = {}): Promise<MppServer> => {
      opened = await openMppServer(world, start, options);
      return opened;
    };
    afterEach(async () => {
      await opened?.close();
      opened = undefined;
    });

    /** Asserts that a response is a 402 with a new challenge and this problem. */
    const refused = async (response: Response, problem: string): Promise<MppChallenge> => {
      const body = (await response.json()) as Record<string, unknown>;
      expect([response.status, body["type"], body["status"]]).to.deep.equal([402, PROBLEMS + problem, 402]);
      const challenge = challengeOf(response);
      expect(body["challengeId"]).to.equal(challenge.id);
      expect(response.headers.get("www-authenticate")).to.match(/^x402-zk, Payment /);
      expect(response.headers.get("cache-control")).to.equal("no-store");
      expect(opened!.sales).to.have.length(0);
      return challenge;
    };

    it("asks in both formats, and sells once for a credential, with a receipt", async () => {
      const { url, sales } = await open({ cors: { origins: "*" } });
      const asked = await fetch(`${url}/paid/a?b=c`);
      const body = (await asked.clone().json()) as { payment: { amountBaseUnits: string }; message: string };
      const challenge = await refused(asked, "payment-required");
      expect([body.payment.amountBaseUnits, body.message]).to.deep.equal([String(PRICE), "Payment Required"]);
      expect(asked.headers.get("content-type")).to.match(/^application\/json/);
      expect(asked.headers.get("vary")).to.match(/X-Payment-Proof, Authorization, Accept-Payment/);
      const { amount, asset, binding, service, resource } = parseCharge(challenge.request);
      expect([amount, asset, binding.wallet, service, resource]).to.deep.equal([
        PRICE,
        world.token.toLowerCase(),
        world.merchant.wallet,
        world.service,
        resourceOf("/paid/a?b=c"),
      ]);
      expect([challenge.realm, challenge.digest]).to.deep.equal(["data.example", undefined]);

      const payload = await paid(world, "/paid/a?b=c");
      const response = await fetch(`${url}/paid/a?b=c`, { headers: credential(challenge, payload) });
      expect([response.status, await response.text()]).to.deep.equal([200, "the goods"]);
      expect(response.headers.get("cache-control")).to.equal("no-store, private");
      expect(response.headers.get("access-control-expose-headers")).to.include("Payment-Receipt");
      const receipt = parseReceipt(response.headers.get("payment-receipt") ?? "");
      expect([receipt.challengeId, receipt.reference]).to.deep.equal([challenge.id, payload["txSignature"]]);
      expect([sales[0]?.payment?.kind, sales[0]?.header("authorization")]).to.deep.equal(["payment", undefined]);

      sales.length = 0;
      const again = await fetch(`${url}/paid/a?b=c`, { headers: credential(challenge, payload) });
      expect(again.headers.get("payment-receipt")).to.equal(null);
      await refused(again, "verification-failed");
    });

    it("answers problem details if the client accepts MPP", async () => {
      const { url } = await open();
      const asked = await fetch(`${url}/paid/a`, { headers: { "accept-payment": "sotto/charge" } });
      expect(asked.headers.get("content-type")).to.match(/^application\/problem\+json/);
      await refused(asked, "payment-required");
    });

    it("takes only the scheme Payment from Authorization, which may be shared", async () => {
      const { url, sales } = await open();
      const bearer = 'Bearer "a, Payment b"';
      for (const value of [
        (payment: string) => `${payment}, ${bearer}`,
        (payment: string) => `${bearer}, ${payment}`,
        (payment: string) => payment.replace("Payment", "pAYMENT  "),
      ]) {
        const challenge = challengeOf(await fetch(`${url}/paid/a`));
        const authorization = value(credential(challenge, await paid(world))["authorization"]!);
        expect((await fetch(`${url}/paid/a`, { headers: { authorization } })).status).to.equal(200);
      }
      expect(sales.map((sale) => sale.header("authorization"))).to.deep.equal([bearer, bearer, undefined]);
      const proof = showing(headerOf(await pay(world)));
      await fetch(`${url}/paid/a`, { headers: { ...proof, authorization: bearer, "accept-payment": "sotto/charge" } });
      expect([sales.at(-1)?.header("authorization"), sales.at(-1)?.header("accept-payment")]).to.deep.equal([
        bearer,
        "sotto/charge",
      ]);
    });

    it("leaves the body to the handler, and binds the challenge to it", async () => {
      const { url, sales } = await open();
      const post = (body: string, headers: Record<string, string> = {}) =>
        fetch(`${url}/paid/a`, { method: "POST", body, headers });
      const challenge = challengeOf(await post("one"));
      expect(challenge.digest).to.equal(bodyDigest(Buffer.from("one")));
      const payload = await paid(world);
      for (const body of ["two", ""])
        await refused(await post(body, credential(challenge, payload)), "invalid-challenge");
      expect((await post("one", credential(challenge, payload))).status).to.equal(200);
      expect(sales).to.have.length(1);
      const large = "x".repeat(100_000);
      expect(challengeOf(await post(large)).digest).to.equal(undefined);
    });

    it("gives no receipt if the handler fails, and takes the payment once it succeeds", async () => {
      const running = await open();
      const challenge = challengeOf(await fetch(`${running.url}/paid/a`));
      const headers = credential(challenge, await paid(world));
      running.handler = () => ({ status: 500, text: "broken" });
      const failed = await fetch(`${running.url}/paid/a`, { headers });
      expect([failed.status, failed.headers.get("payment-receipt")]).to.deep.equal([500, null]);
      running.handler = () => ({ status: 200, text: "the goods" });
      const served = await fetch(`${running.url}/paid/a`, { headers });
      expect(served.status).to.equal(200);
      expect(parseReceipt(served.headers.get("payment-receipt") ?? "").challengeId).to.equal(challenge.id);
    });

    attack("refuses a challenge of which any field was altered", async () => {
      const { url } = await open();
      const challenge = challengeOf(await fetch(`${url}/paid/a`));
      const payload = await paid(world);
      const other = challengeOf(await fetch(`${url}/paid/b`));
      const cheap = Buffer.from(challenge.request, "base64url").toString().replace(`"${PRICE}"`, '"1"');
      const changes: Partial<Record<keyof MppChallenge, string>> = {
        id: other.id,
        realm: "other.example",
        intent: "session",
        request: Buffer.from(cheap).toString("base64url"),
        expires: "2099-01-01T00:00:00Z",
        digest: bodyDigest(Buffer.from("x")),
        opaque: other.opaque!,
        description: "cheap",
        header: "X-Other",
      };
      for (const [name, value] of Object.entries(changes))
        await refused(
          await fetch(`${url}/paid/a`, { headers: credential({ ...challenge, [name]: value }, payload) }),
          "invalid-challenge",
        );
      for (const name of ["expires", "opaque"])
        await refused(
          await fetch(`${url}/paid/a`, { headers: credential({ ...challenge, [name]: undefined }, payload) }),
          "invalid-challenge",
        );
      expect((await fetch(`${url}/paid/a`, { headers: credential(challenge, payload) })).status).to.equal(200);
    });

    attack(
      "refuses a challenge of another route, method, realm, header, price or time, even with a right id",
      async () => {
        const { url } = await open({ routes: [{ path: "/paid/dear", price: "1.00" }] });
        const challenge = challengeOf(await fetch(`${url}/paid/a`));
        const payload = await paid(world);
        const show = (target: string, shown: MppChallenge, init: RequestInit = {}) =>
          fetch(url + target, { ...init, headers: credential(shown, payload) });
        await refused(await show("/paid/b", challenge), "invalid-challenge");
        await refused(await show("/paid/a?b=c", challenge), "invalid-challenge");
        await refused(await show("/paid/a", challenge, { method: "DELETE" }), "invalid-challenge");
        await refused(await show("/paid/dear", challenge), "invalid-challenge");
        await refused(await show("/paid/a", reissued(challenge, { realm: "other.example" })), "invalid-challenge");
        await refused(await show("/paid/a", reissued(challenge, { intent: "session" })), "invalid-challenge");
        const elsewhere = reissued(challenge, { header: "Payment-Authorization" });
        await refused(await show("/paid/a", elsewhere), "invalid-challenge");
        const cheap = Buffer.from(challenge.request, "base64url").toString().replace(`"${PRICE}"`, '"1"');
        const request = Buffer.from(cheap).toString("base64url");
        await refused(await show("/paid/a", reissued(challenge, { request })), "invalid-challenge");
        await refused(await show("/paid/a", reissued(challenge, {}, `${SECRET}!`)), "invalid-challenge");
        for (const expires of ["2020-01-01T00:00:00Z", undefined, "2026-99-99T00:00:00Z"])
          await refused(await show("/paid/a", reissued(challenge, { expires })), "payment-expired");
        const method = await show("/paid/a", reissued(challenge, { method: "tempo" }));
        expect([method.status, ((await method.json()) as { type: string }).type]).to.deep.equal([
          400,
          `${PROBLEMS}method-unsupported`,
        ]);
        // The control: the same helper with nothing changed. HEAD costs the same as GET.
        expect((await show("/paid/a", reissued(challenge, {}), { method: "HEAD" })).status).to.equal(200);
      },
    );

    attack("accepts challenges of the secret before, until the operator removes it", async () => {
      const next = `${SECRET}-next`;
      const { url } = await open({ mpp: { secret: [next, SECRET] } });
      const challenge = challengeOf(await fetch(`${url}/paid/a`));
      expect(reissued(challenge, {}, next).id).to.equal(challenge.id);
      const before = reissued(challenge, {});
      const show = async (shown: MppChallenge) =>
        fetch(`${url}/paid/a`, { headers: credential(shown, await paid(world)) });
      await refused(await show(reissued(challenge, {}, `${SECRET}-other`)), "invalid-challenge");
      expect([(await show(before)).status, (await show(challenge)).status]).to.deep.equal([200, 200]);
    });

    attack("refuses a credential twice at the same time, and in the other header", async () => {
      const { url, sales } = await open();
      const challenge = challengeOf(await fetch(`${url}/paid/a`));
      const settled = await pay(world);
      const payload = JSON.parse(headerOf(settled)) as Json;
      const headers = credential(challenge, payload);
      const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(`${url}/paid/a`, { headers })));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 402, 402, 402, 402]);
      expect(sales).to.have.length(1);
      const proof = await fetch(`${url}/paid/a`, { headers: showing(headerOf(settled)) });
      expect(proof.status).to.equal(402);
      // A client of MPP takes a 402 without a challenge for an error of the server.
      expect(proof.headers.get("www-authenticate")).to.match(/^Payment /);
      const other = challengeOf(await fetch(`${url}/paid/a`));
      expect((await fetch(`${url}/paid/a`, { headers: credential(other, payload) })).status).to.equal(402);
      expect(sales).to.have.length(1);
    });

    attack("refuses several credentials, in one header or in two", async () => {
      const { url, sales } = await open();
      const challenge = challengeOf(await fetch(`${url}/paid/a`));
      const one = credential(challenge, await paid(world))["authorization"]!;
      const lines = (values: readonly string[]) =>
        new Promise<number>((resolve, reject) => {
          const path = `${url}/paid/a`;
          const asked = send(path, (response) => resolve(response.resume().statusCode ?? 0));
          asked.on("error", reject).setHeader("authorization", values as string[]);
          asked.end();
        });
      expect(await lines([`${one}, ${one}`])).to.equal(400);
      expect(await lines([`${one}, Bearer x, ${one}`])).to.equal(400);
      expect(await lines(["Payment e30", one])).to.be.oneOf([400, 402]);
      expect(sales).to.have.length(0);
    });

    attack("refuses what is malformed with a new challenge, and never asks chain or service for it", async () => {
      const { url } = await open();
      const challenge = challengeOf(await fetch(`${url}/paid/a`));
      const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const receipt = encodeReceipt({
        challengeId: challenge.id,
        reference: `0x${"1".repeat(64)}`,
        timestamp: new Date().toISOString(),
      });
      for (const value of [
        "",
        "!",
        "e30=",
        "a=b",
        `${token({ challenge, payload: {} })} ${token({})}`,
        token(null),
        token({ challenge, payload: "x" }),
        Buffer.from(`{"challenge":{},"challenge":${JSON.stringify(challenge)},"payload":{}}`).toString("base64url"),
        token({ challenge, payload: { a: JSON.parse(`${"[".repeat(500)}${"]".repeat(500)}`) as unknown } }),
        token({ challenge, payload: { a: "x".repeat(MAX_CREDENTIAL_LENGTH) } }),
        token({ challenge: { ...challenge, request: { amount: "1" } }, payload: {} }),
        token({ challenge, payload: { a: "\u00e9" } }),
        receipt,
      ])
        await refused(
          await fetch(`${url}/paid/a`, { headers: { authorization: `Payment ${value}` } }),
          "malformed-credential",
        );
      const pretty = Buffer.from(JSON.stringify({ challenge, payload: {} }, undefined, 1)).toString("base64url");
      const headers = { authorization: `Payment ${pretty}` };
      await refused(await fetch(`${url}/paid/a`, { headers }), "verification-failed");
    });

    attack(
      "refuses a payment for another resource, price, recipient or time, and one that did not settle",
      async () => {
        const { url } = await open();
        const challenge = challengeOf(await fetch(`${url}/paid/a`));
        const show = async (payload: Json) =>
          refused(await fetch(`${url}/paid/a`, { headers: credential(challenge, payload) }), "verification-failed");
        await show(await paid(world, "/paid/b"));
        const good = await paid(world);
        for (const change of [
          { timestamp: Number(good["timestamp"]) - 400_000 },
          { recipientPublicKey: `0x${"1".repeat(40)}` },
          { paymentToken: "a.b.c" },
          { proof: (good["proof"] as string[]).toReversed() },
        ])
          await show({ ...good, ...change });
        await show(JSON.parse(headerOf(await pay(world, { price: PRICE - 1n }))) as Json);
        const unsettled = forge(world, {
          ...{ to: world.merchant, root: world.root, price: PRICE, resource: resourceOf("/paid/a") },
        });
        const content = {
          bundle: unsettled,
          paymentToken: String(good["paymentToken"]),
          txSignature: String(good["txSignature"]),
        };
        await show(JSON.parse(headerOf(content)) as Json);
        expect((await fetch(`${url}/paid/a`, { headers: credential(challenge, good) })).status).to.equal(200);
      },
    );
  });
});
