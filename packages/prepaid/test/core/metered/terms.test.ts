import { bytesToHex, SottoError } from "@sotto/protocol";
import { matchesPathLoosely, parseRoutePath } from "@sotto/protocol/extend";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { TypedDataEncoder, Wallet } from "ethers";
import fc from "fast-check";
import {
  assertMeteredTerms,
  decodeMeteredTerms,
  decodeSignedTerms,
  encodeMeteredTerms,
  encodeSignedTerms,
  MAX_METERED_ROUTES,
  MAX_SIGNED_TERMS_BYTES,
  type MeteredRoute,
  type MeteredTerms,
  meteredEpochs,
  meteredRuleHash,
  meteredTermsDigest,
  meteredTermsRequest,
  meteredTermsTypedData,
  receiptKeyOfEpoch,
  ruleOfRequest,
  termsConflict,
  verifyTermsSignature,
} from "../../../src/index.ts";
import { RULE, termsOf, VECTORS } from "./support/samples.ts";

const KEYS = [VECTORS.receipt.receiptKey, VECTORS.tokens.each[0]!.publicKey] as const;
const THIRD = VECTORS.tokens.each[1]!.publicKey;
const terms = termsOf(KEYS);
const CHEAPER = { ...RULE, base: 0n };
const DIGEST = "0x7581cc637d0c1fcb59293732e3991e757f10cfefe51ee82881bd1ed42b9669b6";

const routeOf = (path: string, method = "GET"): MeteredRoute => ({ method, path });
const withRoutes = (routes: readonly MeteredRoute[], rules = [RULE]): MeteredTerms =>
  termsOf(KEYS, { routes: routes.map((route, i) => ({ ...route, rule: rules[i] ?? RULE })) });

describe("the terms of metered routes", () => {
  it("never change their digest, because old signatures must stay valid", () => {
    expect(meteredTermsDigest(terms)).to.equal(DIGEST);
    const { domain, types, message } = meteredTermsTypedData(terms);
    expect(TypedDataEncoder.hash(domain, types, message)).to.equal(DIGEST);
    expect(message).to.include({ firstEpoch: "2026-12", epochs: 2 });
    const [chat, files] = terms.routes.map(({ rule }) => meteredRuleHash(rule));
    expect(message["routes"]).to.equal(
      `POST /v1/chat up to 10000, rule ${chat}; GET /files/* up to 10000, rule ${files}`,
    );
    expect(JSON.parse(meteredTermsRequest(terms)).types).to.have.all.keys("EIP712Domain", "MeteredTerms");
  });

  it("are signed in full: any change changes the digest", () => {
    const [chat, files] = terms.routes;
    const changes: Partial<MeteredTerms>[] = [
      { wallet: terms.pool },
      { chainId: 1n },
      { pool: terms.wallet },
      { origin: "https://other.example" },
      { firstEpoch: "2027-01" },
      { receiptKeys: [KEYS[0]] },
      { receiptKeys: KEYS.toReversed() },
      { receiptKeys: [...KEYS, THIRD] },
      { routes: [chat!] },
      { routes: [files!, chat!] },
      { routes: [{ ...chat!, method: "PUT" }, files!] },
      { routes: [{ ...chat!, path: "/v2/chat" }, files!] },
      { routes: [{ ...chat!, rule: CHEAPER }, files!] },
    ];
    const digests = [{}, ...changes].map((change) => meteredTermsDigest({ ...terms, ...change }));
    expect(new Set(digests).size).to.equal(changes.length + 1);
  });

  it("are accepted with their wallet's signature only", async () => {
    const owner = Wallet.createRandom();
    const own = termsOf(KEYS, { wallet: owner.address.toLowerCase() as `0x${string}` });
    const { domain, types, message } = meteredTermsTypedData(own);
    const signed = { terms: own, signature: await owner.signTypedData(domain, types, message) };
    const noChain = async () => `0x${"00".repeat(32)}`;
    const decoded = decodeSignedTerms(JSON.parse(JSON.stringify(encodeSignedTerms(signed))));
    expect(decoded).to.deep.equal(signed);
    expect(await verifyTermsSignature(decoded, noChain)).to.equal(true);
    const later = { ...signed, terms: { ...own, firstEpoch: "2027-01" } };
    expect(await verifyTermsSignature(later, noChain)).to.equal(false);
    const wire = encodeSignedTerms(signed);
    for (const signature of ["", "0x", "0x1", `0x${"00".repeat(8193)}`, 5, null, undefined]) {
      expectCode("INVALID_ARGUMENT", () => decodeSignedTerms({ ...wire, signature }));
      expectCode("INVALID_ARGUMENT", () => encodeSignedTerms({ ...signed, signature: signature as string }));
    }
    for (const value of [null, [], {}, wire.terms, { ...wire, later: 1 }])
      expectCode("INVALID_ARGUMENT", () => decodeSignedTerms(value));
  });

  it("survive a round trip, and cannot be changed after they were checked", () => {
    const decoded = decodeMeteredTerms(JSON.parse(JSON.stringify(encodeMeteredTerms(terms))));
    expect(decoded).to.deep.equal(terms);
    expect(assertMeteredTerms(decoded)).to.equal(decoded);
    for (const object of [decoded, decoded.routes, decoded.routes[0], decoded.receiptKeys])
      expect(Object.isFrozen(object)).to.equal(true);
  });

  it("have a receipt key for each of their months, and for no other", () => {
    expect(meteredEpochs(terms)).to.deep.equal(["2026-12", "2027-01"]);
    expect(receiptKeyOfEpoch(terms, "2026-12")).to.equal(KEYS[0]);
    expect(receiptKeyOfEpoch(terms, "2027-01")).to.equal(KEYS[1]);
    for (const epoch of ["2026-11", "2027-02"]) expect(receiptKeyOfEpoch(terms, epoch)).to.equal(undefined);
    for (const epoch of ["2026-13", "", null])
      expectCode("INVALID_STRING", () => receiptKeyOfEpoch(terms, epoch as string));
  });

  it("are refused if a field is missing, unknown, malformed or out of its limits", () => {
    const wire = encodeMeteredTerms(terms);
    const [route] = wire.routes;
    const point = (first: string) => `0x${first}${"00".repeat(31)}`;
    const wrong = [
      ...[null, [], {}, "", { ...wire, sequence: 1 }],
      ...Object.keys(wire).flatMap((name) => [null, undefined, "", [], {}, -1].map((v) => ({ ...wire, [name]: v }))),
      ...["0x12", `0x${"0".repeat(42)}`].map((wallet) => ({ ...wire, wallet })),
      ...["1", 1.5, 2 ** 53].map((chainId) => ({ ...wire, chainId })),
      ...["2026-13", "2999-12"].map((firstEpoch) => ({ ...wire, firstEpoch })),
      { ...wire, origin: "https://data.example/path" },
      // The points of small order 1 and 4, and bytes that encode no point.
      ...[[KEYS[0], KEYS[0]], [point("01")], [point("00")], [point("02")], ["0x12"], Array(13).fill(KEYS[0])].map(
        (receiptKeys) => ({ ...wire, receiptKeys }),
      ),
      ...[[null], [route, route], Array(65).fill(route), [{ ...route, price: "1" }], [{ ...route, rule: null }]].map(
        (routes) => ({ ...wire, routes }),
      ),
      ...[
        "",
        "v1",
        "//",
        "/a//b",
        "/a/",
        "/./a",
        "/..",
        "/a/:",
        "//*",
        "/a//*",
        "/*/a",
        "/a?b",
        "/a b",
        "/é",
        `/${"a".repeat(256)}`,
      ].map((path) => ({ ...wire, routes: [{ ...route, path }] })),
      ...["post", "*", "", "P OST", "HEAD", "M".repeat(33)].map((method) => ({
        ...wire,
        routes: [{ ...route, method }],
      })),
    ];
    for (const value of wrong) expectCode("INVALID_ARGUMENT", () => decodeMeteredTerms(value));
    expectCode("INVALID_ARGUMENT", () => encodeMeteredTerms({ ...terms, chainId: 2n ** 53n }));
  });

  it("fit into their size limit with the maximum number of routes, units and months", () => {
    const units = Array.from({ length: 32 }, (_, i) => ({
      name: `u${String(i).padStart(31, "0")}`,
      price: (1n << 64n) - 1n,
      per: 1_000_000_000,
    }));
    const rule = { base: 10n ** 19n, units, cap: 10n ** 19n, grain: 10n ** 17n };
    const path = (i: number) => `/${String(i).padStart(255, "a")}`;
    const routes = Array.from({ length: MAX_METERED_ROUTES }, (_, i) => ({
      method: "M".repeat(32),
      path: path(i),
      rule,
    }));
    const signature = bytesToHex(new Uint8Array(8192).fill(255));
    const size = JSON.stringify(encodeSignedTerms({ terms: termsOf(KEYS, { routes }), signature })).length;
    expect(size).to.be.within(MAX_SIGNED_TERMS_BYTES / 2, MAX_SIGNED_TERMS_BYTES - 1000);
  });

  it("never fail without a code on any JSON", () => {
    const wire = encodeMeteredTerms(terms);
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...Object.keys(wire)), (value, name) => {
        const route = { ...wire.routes[0], path: value };
        for (const each of [value, { ...wire, [name]: value }, { ...wire, routes: [route] }])
          try {
            decodeMeteredTerms(each);
          } catch (error) {
            expect(error).to.be.instanceOf(SottoError);
          }
      }),
      { numRuns: fuzzSize(200, 4_000) },
    );
  });
});

describe("the routes of terms", () => {
  it("match requests by method and path, without the query", () => {
    const all = termsOf(KEYS, {
      routes: ["/", "/v1/chat", "/reports/:id", "/files/*"].map((path, i) => ({
        ...routeOf(path),
        rule: { ...RULE, base: BigInt(i) },
      })),
    });
    const found = (target: string, method = "GET") => ruleOfRequest(all, { method, target })?.base;
    for (const [target, base] of [
      ["/", 0n],
      ["/?a=/v1/chat", 0n],
      ["/v1/chat", 1n],
      ["/v1/chat?stream=1", 1n],
      ["/reports/7", 2n],
      ["/reports/%20", 2n],
      ["/files/", 3n],
      ["/files/a/b", 3n],
    ] as const)
      expect(found(target), target).to.equal(base);
    for (const target of [
      "/v1",
      "/v1/chat/",
      "/V1/chat",
      "/v1/chat/x",
      "/reports",
      "/reports/",
      "/reports/7/8",
      "/files",
    ])
      expect(found(target), target).to.equal(undefined);
    expect(found("/v1/chat", "POST")).to.equal(undefined);
    expect(found("/v1/chat", "HEAD")).to.equal(1n);
    expect(ruleOfRequest(withRoutes([routeOf("/*")]), { method: "GET", target: "/" })).to.deep.equal(RULE);
    for (const wrong of [null, undefined, 5])
      expectCode("INVALID_ARGUMENT", () => ruleOfRequest(terms, wrong as never));
    for (const target of ["", "v1", "/ ", null])
      expectCode("INVALID_STRING", () => ruleOfRequest(terms, { method: "GET", target: target as string }));
    expectCode("INVALID_STRING", () => ruleOfRequest(terms, { method: "get", target: "/" }));
  });

  it("never match the same request twice in one statement", () => {
    for (const [one, other] of [
      ["/a", "/a"],
      ["/:x", "/a"],
      ["/*", "/a"],
      ["/*", "/"],
      ["/*", "/a/*"],
      ["/a/*", "/:x/b"],
      ["/a/:x", "/:y/b"],
      ["/files/*", "/files"],
      ["/Reports/a", "/reports/:id"],
      ["/Files/a", "/files/*"],
      ["/a", "/A"],
    ] as const)
      for (const paths of [
        [one, other],
        [other, one],
      ])
        expectCode(
          "INVALID_ARGUMENT",
          () => assertMeteredTerms(withRoutes(paths.map((path) => routeOf(path)))),
          /match/,
        );
    for (const paths of [
      ["/a", "/b", "/"],
      ["/a", "/a/b/*"],
      ["/a/*", "/"],
      ["/:x", "/"],
      ["/a/:x", "/b/:x"],
      ["/a/:x", "/a"],
    ])
      assertMeteredTerms(withRoutes(paths.map((path) => routeOf(path))));
    assertMeteredTerms(withRoutes([routeOf("/a"), routeOf("/a", "POST")]));
  });

  it("overlap exactly if a paywall may match some request with both", () => {
    const segments = fc.array(fc.constantFrom("a", "b", "A", ":x"), { maxLength: 3 });
    const path = fc
      .tuple(segments, fc.boolean())
      .map(([parts, below]) => `/${[...parts, ...(below ? ["*"] : [])].join("/")}`);
    const targets = [0, 1, 2, 3, 4].flatMap((length) =>
      Array.from(
        { length: 2 ** length },
        (_, bits) => `/${Array.from({ length }, (_, i) => ((bits >> i) & 1 ? "a" : "b")).join("/")}`,
      ),
    );
    const isTaken = (by: string, target: string) => matchesPathLoosely(parseRoutePath(by)!, target.slice(1).split("/"));
    fc.assert(
      fc.property(path, path, (one, other) => {
        const [a, b] = [withRoutes([routeOf(one)]), withRoutes([routeOf(other)], [CHEAPER])].map(assertMeteredTerms);
        const isShared = targets.some((target) => isTaken(one, target) && isTaken(other, target));
        expect(termsConflict(a!, b!) !== undefined, `${one} ${other}`).to.equal(isShared);
        for (const target of targets)
          if (ruleOfRequest(a!, { method: "GET", target }) !== undefined)
            expect(isTaken(one, target), `${one} ${target}`).to.equal(true);
      }),
      { numRuns: fuzzSize(500, 10_000) },
    );
  });
});

describe("two terms of one merchant", () => {
  const routes = [{ method: "POST", path: "/v1/:model", rule: CHEAPER }];

  it("conflict if a request has two rules in one month", () => {
    expect(termsConflict(terms, termsOf(KEYS, { routes }))).to.deep.equal({
      epoch: "2026-12",
      routes: [terms.routes[0], routes[0]],
    });
    const next = termsOf(KEYS, { firstEpoch: "2027-01", routes });
    expect(termsConflict(terms, next)?.epoch).to.equal("2027-01");
    expect(termsConflict(next, terms)?.epoch).to.equal("2027-01");
  });

  it("conflict if a month has two receipt keys, also without common requests", () => {
    const elsewhere = { routes: [{ ...routes[0]!, path: "/elsewhere" }] };
    expect(termsConflict(terms, termsOf([KEYS[0]!, THIRD], elsewhere))).to.deep.equal({ epoch: "2027-01" });
    expect(termsConflict(terms, termsOf([THIRD], { ...elsewhere, firstEpoch: "2027-01" }))?.epoch).to.equal("2027-01");
    expect(termsConflict(terms, termsOf(KEYS, elsewhere)), "the control").to.equal(undefined);
  });

  it("do not conflict if they have other months, other requests or the same rules, or are another merchant's", () => {
    const other = termsOf(KEYS, { routes });
    expect(termsConflict(terms, terms)).to.equal(undefined);
    expect(termsConflict(terms, termsOf([KEYS[0]!, THIRD], { firstEpoch: "2027-02" }))).to.equal(undefined);
    expect(termsConflict(terms, termsOf([KEYS[0]!], { routes: [terms.routes[0]!] }))).to.equal(undefined);
    expect(termsConflict(terms, { ...other, firstEpoch: "2027-02" })).to.equal(undefined);
    expect(termsConflict(terms, { ...other, firstEpoch: "2026-10" })).to.equal(undefined);
    expect(termsConflict(terms, { ...other, routes: [{ ...routes[0]!, method: "PUT" }] })).to.equal(undefined);
    for (const change of [
      { wallet: terms.pool },
      { pool: terms.wallet },
      { chainId: 1n },
      { origin: "https://other.example" },
    ])
      expect(termsConflict(terms, { ...other, ...change })).to.equal(undefined);
    for (const wrong of [null, undefined, {}])
      expectCode("INVALID_ARGUMENT", () => termsConflict(terms, wrong as never));
  });
});
