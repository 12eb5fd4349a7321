// The service's tokens: issuer, format, and how the paywall obtains the keys.
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { TOKEN_TYPE } from "@sotto/protocol";
import { expect } from "chai";
import { Tokens } from "../src/checks/token.ts";
import { parseKeySet, TokenKeys } from "../src/service/token-keys.ts";
import { createRecipient, paymentTo } from "./support/payment.ts";

const ISSUER = "https://pay.example/zk";
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

interface Signer {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: Record<string, unknown>;
}

function createSigner(kid: string): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { kid, privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: "EdDSA", use: "sig" } };
}

const { claims } = paymentTo(createRecipient());
const payload = (): object => ({ ...claims, iss: ISSUER, iat: 1, exp: 2 });

function issue({ kid, privateKey }: Signer, changes: { header?: object; payload?: object } = {}): string {
  const header = { alg: "EdDSA", kid, typ: TOKEN_TYPE, ...changes.header };
  const text = `${base64(header)}.${base64({ ...payload(), ...changes.payload })}`;
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString("base64url")}`;
}

describe("a payment token", () => {
  const [signer, stranger] = [createSigner("a"), createSigner("a")];
  let tokens: Tokens;
  before(async () => {
    tokens = new Tokens(TokenKeys.pinned(await parseKeySet({ keys: [signer.jwk] }), Date.now), [ISSUER]);
  });

  const read = (token: string) =>
    tokens.read(token).then(
      (found) => found as unknown,
      (error: { failure?: string }) => error.failure,
    );

  it("from the service is accepted long after it expired for settle", async () => {
    expect(await read(issue(signer))).to.deep.equal(claims);
  });

  it("of another issuer is rejected", async () => {
    expect(await read(issue(stranger))).to.equal("TOKEN");
    expect(await read(issue(createSigner("b")))).to.equal("TOKEN");
    expect(await read(issue(signer, { payload: { iss: "https://other.example/zk" } }))).to.equal("TOKEN");
    expect(await read(issue(signer, { payload: { iss: undefined } }))).to.equal("TOKEN");
  });

  it("has exactly one algorithm and one type", async () => {
    const unsigned = `${base64({ alg: "none", kid: "a", typ: TOKEN_TYPE })}.${base64(payload())}.`;
    const hmac = `${base64({ alg: "HS256", kid: "a", typ: TOKEN_TYPE })}.${base64(payload())}.AAAA`;
    const otherType = issue(signer, { header: { typ: "JWT" } });
    const [, body, signature] = issue(signer).split(".");
    const swapped = `${base64({ alg: "EdDSA", kid: "a", typ: TOKEN_TYPE, x: 1 })}.${body}.${signature}`;
    // Another name for the same signature algorithm, which is not the pinned one.
    const renamed = issue(signer, { header: { alg: "Ed25519" } });
    const critical = issue(signer, { header: { crit: ["b64"], b64: false } });
    for (const token of [
      renamed,
      unsigned,
      hmac,
      otherType,
      swapped,
      critical,
      "",
      "a.b.c",
      "..",
      `${"a".repeat(9000)}.b.c`,
    ])
      expect(await read(token), token.slice(0, 40)).to.equal("TOKEN");
  });

  it("has all required claims", async () => {
    for (const name of Object.keys(claims)) {
      if (name === "jti") continue;
      expect(await read(issue(signer, { payload: { [name]: undefined } })), name).to.equal("TOKEN");
    }
  });
});

describe("token keys", () => {
  const served: { keys: unknown; status: number; requests: number; redirect?: string; text?: string } = {
    keys: [],
    status: 200,
    requests: 0,
  };
  let now = 1_000_000;
  let service: string;
  const server = createServer((request, response) => {
    served.requests += 1;
    expect(request.url).to.equal("/zk/.well-known/jwks.json");
    if (served.redirect !== undefined) response.setHeader("location", served.redirect).writeHead(302).end();
    else response.writeHead(served.status).end(served.text ?? JSON.stringify({ keys: served.keys }));
  });
  before((done) => {
    server.listen(0, "127.0.0.1", () => {
      service = `http://127.0.0.1:${(server.address() as AddressInfo).port}/zk`;
      done();
    });
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    Object.assign(served, {
      keys: [createSigner("a").jwk],
      status: 200,
      requests: 0,
      redirect: undefined,
      text: undefined,
    });
  });
  const open = () => TokenKeys.fetched(service, () => now);
  const code = (question: Promise<unknown>) =>
    question.then(
      (found) => found,
      (error: { code?: string }) => error.code,
    );

  it("that cannot be read cause an error with the response's status, never its text", async () => {
    const message = () =>
      open().then(
        () => "none",
        (error: Error) => error.message,
      );
    served.text = "secret words";
    expect(await message()).to.match(/does not return the service's token keys$/);
    served.status = 502;
    expect(await message()).to.match(/token keys: status 502, expected 200$/);
  });

  it("are rotated: an unknown key is requested once", async () => {
    const keys = await open();
    served.keys = [createSigner("a").jwk, createSigner("b").jwk];
    now += 11_000;
    const found = await Promise.all(Array.from({ length: 20 }, () => keys.find("b")));
    expect(found.every((key) => key !== undefined)).to.equal(true);
    expect(served.requests).to.equal(2);
  });

  it("that do not exist cause at most one request every ten seconds", async () => {
    const keys = await open();
    now += 11_000;
    expect(await keys.find("x")).to.equal(undefined);
    for (let i = 0; i < 50; i++) {
      now += 100;
      // The service may have added the key since then, so the result is retryable.
      expect(await code(keys.find(`x${i}`))).to.equal("SERVICE_UNAVAILABLE");
    }
    expect(served.requests).to.equal(2);
    expect(await keys.find("a")).to.not.equal(undefined);
  });

  it("that were revoked are no longer used after a refresh", async () => {
    const keys = await open();
    expect(await keys.find("a")).to.not.equal(undefined);
    served.keys = [createSigner("b").jwk];
    now += 6 * 60_000;
    // The first request uses the cached keys, and triggers a refresh in the background.
    expect(await keys.find("a")).to.not.equal(undefined);
    while ((await keys.find("b").catch(() => undefined)) === undefined)
      await new Promise((resolve) => setTimeout(resolve, 5));
    now += 11_000;
    expect(await keys.find("a")).to.equal(undefined);
    expect(await keys.find("b")).to.not.equal(undefined);
  });

  it("are used for at most one hour while the service is unreachable", async () => {
    const keys = await open();
    served.status = 503;
    for (let minute = 0; minute < 60; minute += 5) {
      expect(await keys.find("a"), String(minute)).to.not.equal(undefined);
      now += 5 * 60_000;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    now += 60_000;
    expect(await code(keys.find("a"))).to.equal("SERVICE_UNAVAILABLE");
    served.status = 200;
    now += 11_000;
    expect(await keys.find("a")).to.not.equal(undefined);
  });

  it("have one type, and come only from the service", async () => {
    const good = createSigner("a").jwk;
    const useless = [
      ...[
        { ...good, kty: "RSA" },
        { ...good, crv: "X25519" },
        { ...good, use: "enc" },
        { ...good, alg: "ES256" },
      ],
      ...[{ ...good, kid: 7 }, { ...good, x: undefined }, null, "key", 7],
    ];
    const refused = [[], useless, "keys", Array.from({ length: 65 }, (_, i) => createSigner(String(i)).jwk)];
    for (const keys of refused) {
      served.keys = keys;
      expect(await code(open())).to.equal("SERVICE_UNAVAILABLE");
    }
    served.keys = [...useless, good];
    expect(await (await open()).find("a")).to.not.equal(undefined);
    served.redirect = `${service}/elsewhere`;
    expect(await code(open())).to.equal("SERVICE_UNAVAILABLE");
  });
});
