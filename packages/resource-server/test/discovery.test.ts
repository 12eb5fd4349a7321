import { X402_PRIVACY_EXTENSION } from "@sotto/protocol/x402";
import { expect } from "chai";
import { type ListedRoute, Listings } from "../src/paywall/discovery.ts";
import { parseTarget } from "../src/routes/target.ts";

const ORIGIN = "https://data.example";
const ROUTE: ListedRoute = { path: "/weather", method: "GET", description: "The weather" };
const of = (routes: readonly ListedRoute[] | undefined, target: string, method = "GET") =>
  new Listings(routes).of(method, parseTarget(ORIGIN, target)!, ORIGIN + target);

describe("the option discovery", () => {
  it("adds nothing if it is not set, or to other routes", () => {
    for (const fields of [of(undefined, "/weather"), of([ROUTE], "/other"), of([ROUTE], "/weather", "POST")])
      expect(fields).to.deep.equal({});
  });

  it("adds the listing of the first route that matches", () => {
    const other = { ...ROUTE, path: "/:any", description: "Other" };
    const { resource, extensions } = of([ROUTE, other], "/weather?city=Bern");
    expect(resource).to.deep.equal({
      ...{ url: `${ORIGIN}/weather?city=Bern`, description: "The weather", mimeType: "application/json" },
    });
    expect(extensions!.privacy).to.equal(X402_PRIVACY_EXTENSION);
    expect(extensions!.bazaar).to.not.have.property("routeTemplate");
  });

  it("lists a path with parameters as written in the option", () => {
    const { extensions } = of([{ ...ROUTE, path: "/users/:id" }], "/users/alice");
    expect(extensions!.bazaar.routeTemplate).to.equal("/users/:id");
    expect(JSON.stringify(extensions)).to.not.include("alice");
  });

  const wrong: Readonly<Record<string, [unknown, RegExp]>> = {
    "no list": [ROUTE, /^discovery must be a list/],
    "no object": [["/weather"], /^discovery\[0\] must be an object/],
    "an unknown field": [[{ ...ROUTE, price: "1" }], /^discovery\[0\]\.price is unknown/],
    "no path": [[{ ...ROUTE, path: undefined }], /^discovery\[0\]\.path must be a path/],
    "a path with *": [[{ ...ROUTE, path: "/all/*" }], /needs a path without \*/],
    "all methods": [[{ ...ROUTE, method: "*" }], /^discovery\[0\]: method must be GET or POST/],
    "no description": [[{ ...ROUTE, description: "" }], /^discovery\[0\]: description must be/],
  };
  for (const [name, [option, message]] of Object.entries(wrong))
    it(`is refused with ${name}`, () => {
      expect(() => new Listings(option as never))
        .to.throw(message)
        .with.property("code", "INVALID_OPTION");
    });
});
