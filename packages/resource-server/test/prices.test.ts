import { expect } from "chai";
import type { PaywallOptions } from "../src/paywall/options.ts";
import type { PaywallRequest } from "../src/routes/options.ts";
import { Prices, parsePrice } from "../src/routes/prices.ts";
import { parseTarget } from "../src/routes/target.ts";

const DECIMALS = 6;
function prices(options: Partial<PaywallOptions>): Prices {
  const made = new Prices({ price: "1", ...options } as PaywallOptions);
  made.parse(DECIMALS);
  return made;
}
/** Base units. */
async function costOf(made: Prices, target: string, method?: string): Promise<bigint | "free"> {
  const price = await made.of(...ask(target, method));
  return price === "free" ? price : made.amount(price, DECIMALS);
}

const ask = (target: string, method = "GET"): [PaywallRequest, NonNullable<ReturnType<typeof parseTarget>>] => [
  { method, target, header: () => [] },
  parseTarget("https://data.example", target)!,
];

describe("a price", () => {
  it("is parsed exactly, or rejected", () => {
    expect(parsePrice("0.05", DECIMALS)).to.equal(50_000n);
    expect(parsePrice("0.000001", DECIMALS)).to.equal(1n);
    expect(parsePrice(50_000n, DECIMALS)).to.equal(50_000n);
    const refused = [0.05, 1, "0.0000001", "0", 0n, -1n, "-1", "1e3", "", "1,5", " 1", 1n << 64n, null, undefined, {}];
    for (const price of refused) expect(() => parsePrice(price as string, DECIMALS), String(price)).to.throw();
  });

  it("is rejected if no JSON number represents it exactly", () => {
    expect(() => parsePrice(12_345_678_901_234_567_891n, DECIMALS))
      .to.throw()
      .with.property("code", "INVALID_AMOUNT");
  });

  it("is rejected at start with the name of its option", () => {
    const start = (options: Partial<PaywallOptions>) => () => prices(options);
    expect(start({ price: 0.05 as never }))
      .to.throw(/^price must be decimal text/)
      .with.property("code", "INVALID_OPTION");
    expect(start({ routes: [{ path: "/a", price: "x" }] })).to.throw(/^routes\[0\]\.price/);
    for (const path of ["a", "", "/a//b", "/../a", "/a*", "/*/a", "/a?b", "/a%20", "/a;b", "/:", 7])
      expect(start({ routes: [{ path: path as string, price: "1" }] }), String(path)).to.throw(/routes\[0\]\.path/);
    expect(start({ free: [{ path: "/a", method: "get" }] })).to.throw(/free\[0\]\.method/);
  });

  it("is rejected once the token's decimals are known to be fewer", () => {
    const made = new Prices({ price: "0.0000001" } as PaywallOptions);
    expect(() => made.parse(6)).to.throw(/^price is not a price/);
    made.parse(7);
  });

  it("is that of the first matching route, in any spelling", async () => {
    const found = prices({
      routes: [
        { path: "/reports/:id", method: "POST", price: "7" },
        { path: "/reports/*", price: "5" },
        { path: "/premium", method: "GET", price: "10" },
      ],
    });
    const cost = (target: string, method?: string) => costOf(found, target, method);
    expect(await cost("/reports/7", "POST")).to.equal(7_000_000n);
    expect(await cost("/reports/7")).to.equal(5_000_000n);
    expect(await cost("/reports/7/pages/8", "POST")).to.equal(5_000_000n);
    // Hono matches the path itself with a `/*` pattern, and so does a mounted Express app.
    for (const target of ["/reports", "/Reports/"]) expect(await cost(target), target).to.equal(5_000_000n);
    expect(await cost("/reportsx")).to.equal(1_000_000n);
    for (const target of ["/premium", "/PREMIUM", "/Premium/", "/premium?cheap=1"])
      expect(await cost(target), target).to.equal(10_000_000n);
    expect(await cost("/premium", "HEAD")).to.equal(10_000_000n);
    expect(await cost("/premium", "POST")).to.equal(1_000_000n);
    expect(await cost("/premium/more")).to.equal(1_000_000n);
  });

  it("may be a function of the request", async () => {
    const found = prices({
      price: async ({ path, query, method }) => {
        if (method === "OPTIONS") return "free";
        return path === "/by" && query.get("pages") === "3" ? "0.03" : 10_000n;
      },
    });
    expect(await costOf(found, "/by?pages=3")).to.equal(30_000n);
    expect(await costOf(found, "/by")).to.equal(10_000n);
    expect(await costOf(found, "/by", "OPTIONS")).to.equal("free");
    for (const wrong of [0.05, "nothing", undefined, 0n]) {
      const error = await costOf(prices({ price: () => wrong as string }), "/").then(
        () => "a price",
        (reason: unknown) => reason,
      );
      expect(error, String(wrong)).to.be.an("error");
    }
  });
});

describe("free routes", () => {
  const isFree = (found: Prices, target: string, method = "GET") => found.isFree(method, ask(target)[1]);

  it("include health checks", () => {
    const found = prices({});
    for (const target of ["/health", "/healthz", "/livez", "/readyz", "/health?deep=1"])
      expect(
        [isFree(found, target), isFree(found, target, "HEAD"), isFree(found, target, "POST")],
        target,
      ).to.deep.equal([true, true, false]);
  });

  it("are free in one spelling only", () => {
    const found = prices({ free: ["/health", "/public/*", "/users/:id/picture", { path: "/hook", method: "POST" }] });
    for (const target of ["/health", "/public/a", "/public/a/b", "/public/", "/users/7/picture"])
      expect(isFree(found, target), target).to.equal(true);
    const paid = ["/", "/Health", "/health/", "/health/x", "/public", "/PUBLIC/a", "/public/a%20b", "/users//picture"];
    for (const target of ["/h%C3%A9alth", "/users/7/picture/", "/users/picture", "/healthx", "/hook", ...paid])
      expect(parseTarget("https://data.example", target) !== undefined && isFree(found, target), target).to.equal(
        false,
      );
    expect([isFree(found, "/hook", "POST"), isFree(found, "/hook", "PUT")]).to.deep.equal([true, false]);
  });

  it("can be disabled with an empty list", () => {
    expect(isFree(prices({ free: [] }), "/health")).to.equal(false);
  });
});
