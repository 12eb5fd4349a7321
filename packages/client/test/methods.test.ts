// A way to pay that this package does not know, and what it cannot do.
import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { FetchError } from "../src/fetch/errors.ts";
import type { OpenMethod, PayingCore, PayingMethod } from "../src/fetch/method.ts";
import { openMethod, wrapFetch } from "../src/fetch/wrap.ts";
import { ORIGIN, openScene } from "./support/scene.ts";

/** Pays with a password at servers that offer it. */
const password = (
  secret: string,
  changes: Partial<OpenMethod> = {},
  opened?: (core: PayingCore) => void,
): PayingMethod => ({
  name: "password",
  headers: ["x-password"],
  open: (core) => {
    opened?.(core);
    return {
      async pay(call, { offers, url }) {
        return offers.has("password") ? call.send({ name: "x-password", value: secret, url }) : undefined;
      },
      ...changes,
    };
  },
});

describe("a way to pay that the client does not know", () => {
  /** A merchant that offers its goods for a password or for a private payment. */
  async function open(offer: string = '{"hint":"friend"}') {
    const scene = await openScene();
    const { merchant } = scene;
    merchant.misbehave = async ({ headers }, answer) => {
      if (headers.get("x-password") === "open sesame") return new Response("served for a password");
      const response = await answer();
      if (response.status !== 402) return response;
      const text = (await response.text()).replace('"payment":{', `"payment":{"password":${offer},`);
      return new Response(text, { status: 402, headers: { "www-authenticate": "x402-zk" } });
    };
    const wrap = (...methods: PayingMethod[]) => wrapFetch(merchant.fetch, scene.payer, scene.terms({ methods }));
    const get = async (method: PayingMethod, init = {}) => (await wrap(method)(`${ORIGIN}/a`, init)).text();
    return { scene, merchant, wrap, get };
  }

  it("pays where it is offered; elsewhere and for purchases with a key, the request is paid privately", async () => {
    const { scene, get } = await open();
    expect(await get(password("open sesame"))).to.equal("served for a password");
    expect(await scene.paid()).to.equal(0n);
    expect(await get(password("open sesame"), { sotto: { key: "once" } })).to.equal("served /a");
    expect(await scene.paid()).to.equal(10n);
    scene.merchant.misbehave = () => undefined;
    expect(await get(password("open sesame"))).to.equal("served /a");
    expect(await scene.paid()).to.equal(20n);
  });

  it("ends the call if it throws: nothing is paid besides", async () => {
    const { scene, get } = await open();
    const fail = async () => {
      throw new Error("no");
    };
    for (const changes of [{ pay: fail }, { resume: fail }]) {
      const failure = await get(password("", changes)).catch((error: Error) => error.message);
      expect(failure).to.equal("no");
    }
    expect(await scene.paid()).to.equal(0n);
    expect(await get(password("", { pay: async () => undefined, paidOtherwise: fail }))).to.equal("served /a");
    expect(await get(password("", { pay: async () => undefined, ended: fail }))).to.equal("served /a");
    expect(await scene.paid()).to.equal(20n);
  });

  it("does not hold the answer if it never finishes its records of the call", async () => {
    const { get } = await open();
    const never = () => new Promise<void>(() => undefined);
    const records = { pay: async () => undefined, paidOtherwise: never, ended: never };
    expect(await get(password("", records))).to.equal("served /a");
  });

  it("sees nothing of the caller's headers and cookies, and sends only its own header to the call's origin", async () => {
    const { merchant, get } = await open();
    const seen: string[] = [];
    const pay: OpenMethod["pay"] = async (call, { url }) => {
      seen.push(JSON.stringify([Object.entries(call), call.url, call.request]));
      await expectRejected("METHOD_INVALID", () => call.send({ name: "x-payment-proof", value: "a", url }));
      const elsewhere = new URL("https://thief.example/");
      await expectRejected("METHOD_INVALID", () => call.send({ name: "x-password", value: "a", url: elsewhere }));
      const twoFaced = { origin: url.origin, href: elsewhere.href } as URL;
      await expectRejected("METHOD_INVALID", () => call.send({ name: "x-password", value: "a", url: twoFaced }));
      return undefined;
    };
    const assertInit: OpenMethod["assertInit"] = (init) => void seen.push(JSON.stringify(init));
    const headers = { authorization: "Bearer secret", cookie: "session=secret" };
    await get(password("", { pay, assertInit }), { headers });
    expect(seen.join()).to.not.include("secret");
    expect(merchant.seen[0]?.headers.get("authorization"), "the control").to.equal("Bearer secret");
  });

  it("pays for purchases with a key if it says so, and for a 402 of another kind, which it reads itself", async () => {
    const { scene, merchant, get } = await open();
    const sotto = { key: "once" };
    expect(await get({ ...password("open sesame"), paysKeyed: true }, { sotto })).to.equal("served for a password");
    merchant.misbehave = ({ headers }) =>
      headers.get("x-password") === "open sesame"
        ? new Response("served for a password")
        : new Response("say the password", { status: 402, headers: { "x-kind": "words" } });
    const payOther: OpenMethod["payOther"] = async (call, { url, headers, body }) => {
      expect(url.href).to.equal(`${ORIGIN}/a`);
      expect(headers.get("x-kind")).to.equal("words");
      const asked = new TextDecoder().decode(await body());
      return asked === "say the password" ? call.send({ name: "x-password", value: "open sesame", url }) : undefined;
    };
    expect(await get(password("", { payOther }))).to.equal("served for a password");
    const unpaid = password("", { payOther: async (_, { body }) => void (await body()) });
    expect(await get(unpaid), "the caller reads the 402").to.equal("say the password");
    expect(await scene.paid()).to.equal(0n);
  });

  it("changes nothing of what is paid privately, nor what was checked of itself", async () => {
    const { scene, get } = await open();
    const seen: string[] = [];
    const pay: OpenMethod["pay"] = async (_, challenge) => {
      Object.assign(challenge, { price: 1n, service: "https://thief.example/zk" });
      challenge.url.host = "thief.example";
      (challenge.offers as Map<string, unknown>).clear();
      const { payment, metadata } = challenge.instructions;
      for (const part of [challenge.instructions, payment, payment.recipient, metadata])
        expect(() => Object.assign(part, { wallet: "0x1", resource: "" }), "frozen").to.throw(TypeError);
      expect(challenge, "the times of the request").to.not.have.property("exchange");
      return undefined;
    };
    const paidOtherwise: OpenMethod["paidOtherwise"] = ({ url, price }) => void seen.push(`${url.host} ${price}`);
    expect(await get(password("", { pay, paidOtherwise }))).to.equal("served /a");
    expect(seen).to.deep.equal([`${new URL(ORIGIN).host} 10`]);
    expect(await scene.paid()).to.equal(10n);

    let core: PayingCore | undefined;
    const names = ["password", "prepaid"];
    const changing = password("", {}, (opened) => {
      core = opened;
    });
    Object.defineProperty(changing, "name", { get: () => names.shift() });
    openMethod(scene.merchant.fetch, scene.payer, scene.terms(), changing);
    await expectRejected("METHOD_INVALID", () => core!.wallet.derive("prepaid/1", 32));
    expect(await core!.wallet.derive("password/1", 32), "the control").to.have.length(32);
  });

  it("pays privately only the price of the tokens that the program confirms, each within the limit per request", async () => {
    const { scene, wrap, merchant } = await open();
    let core: PayingCore | undefined;
    wrap(
      password("", {}, (opened) => {
        core = opened;
      }),
    );
    const buy = (key: string, price: bigint, count: number, value: bigint) =>
      core!.payPrivately({
        key,
        url: `${ORIGIN}/pack`,
        init: { method: "POST", headers: {}, body: new Uint8Array(1) },
        fetch: merchant.fetch,
        wallet: merchant.account.address.toLowerCase(),
        price,
        tokens: { count, value },
      });
    merchant.price = 22n;
    for (const [count, value] of [
      [1, 10n],
      [3, 10n],
      [0, 22n],
      [2.5, 10n],
    ] as const)
      await expectRejected("METHOD_INVALID", () => buy("a", 22n, count, value));
    await expectRejected("REQUEST_LIMIT_EXCEEDED", () => buy("b", 22n, 2, 11n));
    expect(await scene.paid()).to.equal(0n);
    merchant.price = 20n;
    await (await buy("c", 20n, 2, 10n)).delivered();
    expect(await scene.paid(), "the control").to.equal(20n);
  });

  it("gets no offer that is huge, deep or reaches a prototype, and such a 402 is paid privately", async () => {
    for (const offer of [`"${"x".repeat(5000)}"`, `${"[".repeat(50)}${"]".repeat(50)}`, '{"__proto__":{"a":1}}']) {
      const { get } = await open(offer);
      expect(await get(password("open sesame"))).to.equal("served /a");
    }
  });

  it("derives only secrets of its own name, cannot spend, and stays within the limits", async () => {
    const { scene, wrap, merchant } = await open();
    let core: PayingCore | undefined;
    const method = password("open sesame", {}, (opened) => {
      core = opened;
    });
    wrap(method);
    expect(await core!.wallet.derive("password/1", 32)).to.have.length(32);
    for (const label of ["words/1", "passwords", "spending-key"])
      await expectRejected("METHOD_INVALID", () => core!.wallet.derive(label, 32));
    expect(core!.wallet).to.not.have.any.keys("pay", "withdraw", "cashOut", "viewingKeys");
    const options = scene.terms({ methods: [method], maxPerRequest: 9n });
    const limited = wrapFetch(merchant.fetch, scene.payer, options);
    await expectRejected("REQUEST_LIMIT_EXCEEDED", () => limited(`${ORIGIN}/a`));
  });

  it("is refused if its name or headers are reserved, malformed or another method's", async () => {
    const { wrap } = await open();
    const change = (changes: object) => ({ ...password(""), ...changes }) as PayingMethod;
    const wrong = [{ name: "private" }, { name: "" }, { headers: ["Cookie"] }, { headers: ["x y"] }, { open: 1 }];
    for (const changes of wrong) await expectRejected("FETCH_OPTION_INVALID", async () => wrap(change(changes)));
    await expectRejected("FETCH_OPTION_INVALID", async () => wrap(password(""), change({ name: "other" })));
    wrap(password(""), change({ name: "other", headers: ["x-other"] }));
  });

  it("belongs in the option methods: an option that does not exist is refused by its name", async () => {
    const { scene, merchant } = await open();
    const options = { ...scene.terms(), password: { secret: "open sesame" } };
    const refused = () => wrapFetch(merchant.fetch, scene.payer, options);
    expect(refused)
      .to.throw(FetchError, /no option password;.* methods/)
      .with.property("code", "FETCH_OPTION_INVALID");
  });
});
