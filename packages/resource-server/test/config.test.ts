// Options that would make a paywall misjudge payments are rejected before any request.
import { BINDING_SLOT_SECONDS } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { createPaywall, type PaywallOptions } from "../src/index.ts";
import { parseConfig } from "../src/paywall/config.ts";
import { readLock } from "../src/service/keys.ts";
import { createRecipient, DEPLOYMENT } from "./support/payment.ts";

const recipient = createRecipient();
const options: PaywallOptions = {
  origin: "https://data.example",
  price: "0.01",
  recipient: {
    wallet: recipient.wallet,
    shieldedAddress: recipient.address,
    signature: "0x00",
    issuedAt: 1_000 * BINDING_SLOT_SECONDS,
  },
  service: "https://pay.example/zk",
  chain: { rpcUrls: ["https://node.example"], chainId: DEPLOYMENT.chainId, pool: DEPLOYMENT.pool },
};

const refusal = (changes: object): string => {
  try {
    parseConfig({ ...options, ...changes } as PaywallOptions);
    return "accepted";
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === "INVALID_OPTION" ? message : `${code}: ${message}`;
  }
};
const chain = (changes: object) => refusal({ chain: { ...options.chain, ...changes } });
const withRecipient = (changes: object) => refusal({ recipient: { ...options.recipient, ...changes } });

describe("a paywall's options", () => {
  it("get defaults", () => {
    const { origin, service, deployment, confirmations, blockTimeMs, inMemory, storeUrl } = parseConfig(options);
    expect({ origin, service, deployment, confirmations, blockTimeMs, inMemory, storeUrl }).to.deep.equal({
      origin: "https://data.example",
      service: "https://pay.example/zk",
      deployment: DEPLOYMENT,
      confirmations: 1,
      blockTimeMs: 1_000,
      inMemory: true,
      storeUrl: "sqlite::memory:",
    });
    const real = parseConfig({
      ...options,
      service: "https://Pay.example/zk//",
      chain: { ...options.chain, chainId: 1 },
      store: "postgres://paywall@database.example/paywall",
    });
    expect([real.confirmations, real.blockTimeMs, real.service]).to.deep.equal([2, 12_000, "https://pay.example/zk"]);
    expect(parseConfig({ ...options, store: "sqlite:claims.db" }).inMemory).to.equal(false);
    expect(parseConfig({ ...options, store: "sqlite::memory:" }).inMemory).to.equal(true);
  });

  it("have no unknown names", () => {
    for (const name of ["password", "onChallenge", "method"])
      expect(refusal({ [name]: undefined })).to.match(new RegExp(`^options\\.${name} is unknown; .*\\bmethods\\b`));
    expect(refusal({ methods: [] })).to.equal("accepted");
  });

  it("require a store on chains that are not local", () => {
    const far = { ...options.chain, chainId: 8453 };
    for (const store of [undefined, "sqlite::memory:"]) {
      const message = refusal({ chain: far, store });
      for (const advice of ['store: "sqlite:PATH"', 'store: "postgres://', 'store: "memory"', "8453"])
        expect(message, String(store)).to.include(advice);
    }
    for (const store of ["memory", "sqlite:claims.db", "postgres://paywall@database.example/paywall"])
      expect(refusal({ chain: far, store }), store).to.equal("accepted");
    for (const chainId of [31337, 1337])
      for (const store of [undefined, "sqlite::memory:", "memory"])
        expect(refusal({ chain: { ...far, chainId }, store }), `${chainId} ${store}`).to.equal("accepted");
    expect(parseConfig({ ...options, chain: far, store: "memory" }).inMemory).to.equal(true);
  });

  it("require a store, ceremony keys and a secure service URL on local chains too if NODE_ENV is production", async () => {
    const local = { chainId: 31337n, set: undefined };
    const found = process.env["NODE_ENV"];
    try {
      process.env["NODE_ENV"] = "production";
      for (const store of [undefined, "sqlite::memory:"])
        expect(refusal({ store })).to.include("NODE_ENV is production");
      expect(refusal({ store: "memory" })).to.equal("accepted");
      expect(refusal({ store: "memory", service: "http://pay.example/zk" })).to.match(/^service must be an https/);
      await expectRejected("DEVELOPMENT_KEYS_REFUSED", () => readLock(options.service, local));
    } finally {
      if (found === undefined) delete process.env["NODE_ENV"];
      else process.env["NODE_ENV"] = found;
    }
    expect(refusal({ store: undefined })).to.equal("accepted");
    expect(refusal({ service: "http://pay.example/zk" })).to.equal("accepted");
    expect((await readLock(options.service, local)).set).to.equal("development");
  });

  it("require a bare origin", () => {
    const wrong = [
      ...[
        "https://data.example/",
        "https://data.example/store",
        "data.example",
        "HTTPS://data.example",
        "https://DATA.example",
      ],
      ...[
        "https://data.example:443",
        "https://user@data.example",
        "ftp://data.example",
        "https://data.example?a",
        "",
        7,
      ],
    ];
    for (const origin of wrong) expect(refusal({ origin }), String(origin)).to.match(/^origin/);
    expect(refusal({ origin: "http://localhost:3000" })).to.equal("accepted");
  });

  it("require a secure service URL", () => {
    for (const service of ["pay.example", "ftp://pay.example", "https://pay.example?a", "https://a:b@pay.example", 7])
      expect(refusal({ service }), String(service)).to.match(/^service/);
    const far = { ...options.chain, chainId: 10n };
    const elsewhere = (service: string, more = {}) => refusal({ service, chain: far, store: "memory", ...more });
    expect(elsewhere("http://pay.example/zk")).to.match(/^service must be an https/);
    for (const here of ["127.0.0.1:8402", "localhost", "zk.localhost:1", "[::1]"])
      expect(elsewhere(`http://${here}/zk`), here).to.equal("accepted");
    // Host names that only start like a loopback address may belong to anyone.
    for (const there of ["127.0.0.1.pay.example", "127.pay.example", "localhost.pay.example"])
      expect(elsewhere(`http://${there}/zk`), there).to.match(/https/);
    expect(elsewhere("http://pay.example/zk", { jwks: { keys: [] } })).to.equal("accepted");
  });

  it("limit confirmations to a payment's lifetime", () => {
    expect(chain({ rpcUrls: [] })).to.match(/^chain\.rpcUrls/);
    expect(chain({ rpcUrls: ["node.example"] })).to.match(/^chain\.rpcUrls/);
    expect(chain({ chainId: 1.5 })).to.match(/^chain\.chainId/);
    expect(chain({ pool: "0x11" })).to.match(/^chain\.pool/);
    expect(chain({ confirmations: 0 })).to.match(/^chain\.confirmations/);
    expect(chain({ confirmations: 6, blockTimeMs: 12_000 })).to.match(/^6 confirmations of 12000 ms/);
    expect(chain({ confirmations: 5, blockTimeMs: 12_000 })).to.equal("accepted");
    expect(refusal({ chain: undefined })).to.match(/^chain\.rpcUrls/);
  });

  it("require a payable recipient and its own viewing key", () => {
    const stranger = createRecipient();
    for (const changes of [{ wallet: "0x1" }, { shieldedAddress: "0x22" }, { issuedAt: 7 }, { phone: "12" }])
      expect(withRecipient(changes), JSON.stringify(changes)).to.match(/^recipient/);
    expect(withRecipient({ viewingKey: recipient.viewingKey })).to.equal("accepted");
    for (const viewingKey of [stranger.viewingKey, recipient.viewingKey + 2n, 0n, "7", -1n]) {
      const message = withRecipient({ viewingKey });
      expect(message).to.match(/^recipient\.viewingKey does not belong/);
      expect(message).not.to.include(String(viewingKey === 0n ? "secret" : viewingKey));
    }
    expect(refusal({ recipient: undefined })).to.match(/^recipient/);
  });

  it("enable the page only if set, with a safe wallet URL and a short name", () => {
    expect([parseConfig(options).page, parseConfig({ ...options, page: false }).page]).to.deep.equal([
      undefined,
      undefined,
    ]);
    expect(parseConfig({ ...options, page: true }).page).to.deep.equal({ wallet: undefined, name: undefined });
    const page = { wallet: "https://Wallet.example/app//", name: "Harbour Data" };
    expect(parseConfig({ ...options, page }).page).to.deep.equal({
      wallet: "https://wallet.example/app",
      name: "Harbour Data",
    });
    for (const wrong of ["yes", 1, null, [], { walet: "https://wallet.example" }])
      expect(refusal({ page: wrong }), JSON.stringify(wrong)).to.match(/^page/);
    for (const wallet of ["javascript:alert(1)", "wallet.example", "data:text/html,x", "https://wallet.example/#/a", 7])
      expect(refusal({ page: { wallet } }), String(wallet)).to.match(/^page\.wallet/);
    for (const name of ["", "  ", "x".repeat(81), 7])
      expect(refusal({ page: { name } }), String(name)).to.match(/^page\.name/);
    const far = { chain: { ...options.chain, chainId: 8453 }, store: "memory" };
    expect(refusal({ ...far, page: { wallet: "http://wallet.example" } })).to.match(/^page\.wallet/);
    expect(refusal({ ...far, page: { wallet: "http://localhost:4020" } })).to.equal("accepted");
  });

  it("allow only the named origins, and reject misspelled fields", () => {
    expect(parseConfig(options).cors).to.equal(undefined);
    const { cors } = parseConfig({ ...options, cors: { origins: "*" } });
    expect(cors?.preflight).to.deep.equal({
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": "X-Payment-Proof, Content-Type",
      "access-control-max-age": "7200",
    });
    const more = parseConfig({
      ...options,
      cors: {
        origins: ["https://wallet.example", "http://localhost:4020"],
        methods: ["GET", "GET"],
        allowedHeaders: ["x-payment-proof", "PAYMENT-SIGNATURE"],
        exposedHeaders: ["PAYMENT-REQUIRED"],
        maxAge: 0,
        privateNetwork: true,
      },
    }).cors;
    expect(more).to.deep.equal({
      origins: new Set(["https://wallet.example", "http://localhost:4020"]),
      preflight: {
        "access-control-allow-methods": "GET",
        "access-control-allow-headers": "X-Payment-Proof, PAYMENT-SIGNATURE",
        "access-control-max-age": "0",
      },
      privateNetwork: true,
      exposedHeaders: "PAYMENT-REQUIRED",
    });
    for (const wrong of [true, "*", null, [], {}, { origin: "*" }, { origins: "*", credentials: true }])
      expect(refusal({ cors: wrong }), JSON.stringify(wrong)).to.match(/^cors/);
    for (const origin of ["*", "null", "https://wallet.example/", "wallet.example", "HTTPS://wallet.example", "", 7])
      expect(refusal({ cors: { origins: [origin] } }), String(origin)).to.match(/^cors\.origins/);
    const list = (changes: object) => refusal({ cors: { origins: "*", ...changes } });
    expect(refusal({ cors: { origins: [] } })).to.match(/^cors\.origins/);
    for (const names of [["*"], ["a b"], ["a\r\nb: c"], [""], "Content-Type", [7]]) {
      expect(list({ allowedHeaders: names }), String(names)).to.match(/^cors\.allowedHeaders/);
      expect(list({ exposedHeaders: names }), String(names)).to.match(/^cors\.exposedHeaders/);
      expect(list({ methods: names }), String(names)).to.match(/^cors\.methods/);
    }
    const exposed = (characters: number) => ["X-Page", "x".repeat(characters - "X-Page, ".length - "*".length)];
    expect(parseConfig({ ...options, cors: { origins: "*", exposedHeaders: exposed(320) } }).cors).to.be.an("object");
    expect(list({ exposedHeaders: exposed(321) })).to.match(/^cors\.exposedHeaders .* 321 characters .* at most 320/);
    for (const maxAge of [-1, 86_401, 1.5, "60"]) expect(list({ maxAge }), String(maxAge)).to.match(/^cors\.maxAge/);
    expect(list({ privateNetwork: "yes" })).to.match(/^cors\.privateNetwork/);
  });

  it("refuse methods that another one could be taken for", () => {
    const open = () => ({});
    const path = "/.well-known/sotto/a";
    const of = (...methods: object[]) => refusal({ methods } as never);
    const header = (name: string, scheme?: string) => ({ headers: [{ name, scheme }] });
    for (const name of ["", "A", "private", "amount", "recipient", "__proto__", "constructor", "a".repeat(33), 7])
      expect(of({ name, open }), String(name)).to.match(/name/);
    expect(of({ name: "a", open }, { name: "a", open })).to.match(/the same name: a/);
    expect(of({ name: "a", open, ...header("X-Payment-Proof") })).to.match(/the same header: x-payment-proof/);
    expect(of({ name: "a", open, ...header("X-A") }, { name: "b", open, ...header("x-a") })).to.match(
      /the same header/,
    );
    const voucher = { name: "a", open, ...header("Authorization", "Voucher") };
    expect(of(voucher, { name: "b", open, ...header("authorization", "voucher") })).to.match(/the same header/);
    expect(of(voucher, { name: "b", open, ...header("Authorization") })).to.match(/the same header/);
    const paths = { paths: [{ method: "GET", path }] };
    expect(of({ name: "a", open, ...paths }, { name: "b", open, ...paths })).to.match(/the same path/);
    for (const wrong of [
      "/a",
      "/.well-known/sotto",
      "/.well-known/sotto/../a",
      `${path}?b`,
      "/.well-known/sotto//a",
      7,
    ])
      expect(of({ name: "a", open, paths: [{ method: "GET", path: wrong }] }), String(wrong)).to.match(/paths/);
    for (const wrong of [{ name: "a" }, { name: "a", open, headers: ["X A"] }, { name: "a", open, headers: "X" }, null])
      expect(of(wrong as object)).to.match(/^methods\[0\]/);
    expect(refusal({ methods: {} } as never)).to.match(/^methods must be a list/);
    // The control.
    const { methods } = parseConfig({
      ...options,
      methods: [voucher, { name: "b", open, ...header("Authorization", "B") }],
    });
    expect(methods.map(({ name }) => name)).to.deep.equal(["a", "b"]);
  });

  it("are rejected with a code if malformed", async () => {
    for (const wrong of [undefined, null, 7, {}, { ...options, store: 7 }])
      expect(await createPaywall(wrong as never).catch(({ code }) => code)).to.equal("INVALID_OPTION");
  });
});
