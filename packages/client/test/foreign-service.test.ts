import { expect } from "chai";
import { FetchError } from "../src/fetch/errors.ts";
import { describeForeign } from "../src/fetch/foreign-service.ts";

const textOf = (...parts: Parameters<typeof describeForeign>) =>
  new FetchError("ENDPOINT_NOT_ALLOWED", describeForeign(...parts)).message;
const described = (service: string, ...allowed: string[]) => textOf(`${service}/verify`, `${service}/settle`, allowed);

describe("the error for a service that is not allowed", () => {
  it("names both addresses", () => {
    expect(described("https://evil.example/zk", "https://pay.example/zk", "https://two.example")).to.equal(
      "the 402 names the service https://evil.example/zk, but the wallet allows only https://pay.example/zk, https://two.example",
    );
    expect(textOf("https://a.example/verify", "https://b.example/settle", ["https://a.example"])).to.equal(
      "the 402 names the service https://a.example to verify and https://b.example to settle, but the wallet allows only " +
        "https://a.example",
    );
  });

  it("explains that localhost and 127.0.0.1 are different addresses", () => {
    const message = described("http://localhost:8402/zk", "https://pay.example/zk", "http://127.0.0.1:8402/zk");
    expect(message).to.match(
      /: localhost and 127\.0\.0\.1 are different addresses; use the same one for the resource server and the wallet$/,
    );
    expect(described("http://localhost:8402/zk", "http://127.0.0.1:9000/zk")).to.match(
      /but the wallet allows only \S+$/,
    );
  });

  it("explains which URL lacks the base path", () => {
    expect(described("http://127.0.0.1:8402", "http://127.0.0.1:8402/zk")).to.match(
      /: the path \/zk is missing in http:\/\/127\.0\.0\.1:8402$/,
    );
    expect(described("http://127.0.0.1:8402/zk", "http://127.0.0.1:8402")).to.match(/: the path \/zk is missing in /);
  });

  it("quotes any address on one short line", () => {
    const message = describeForeign(`nowhere\u001b[2J\n${"x".repeat(9_000)}`, "", ["https://pay.example"]);
    expect(message).to.match(/^[\x20-\x7e]{1,800}$/);
    const many = Array.from({ length: 50 }, (_, i) => `https://${i}.example`);
    expect(described("https://evil.example", ...many)).to.match(/https:\/\/4\.example and 45 more$/);
  });

  it("tells the 402's addresses from our own words", () => {
    const own = (parts: ReturnType<typeof describeForeign>) =>
      parts.filter((part) => typeof part === "string").join("|");
    const evil = describeForeign("http://127.0.0.1/pay-again/verify", "http://127.0.0.1/pay-again/settle", [
      "http://127.0.0.1",
    ]);
    expect(own(evil)).to.include("the path ").and.to.not.include("pay-again");
    // A path that the wallet's own service has is our own word.
    expect(
      own(describeForeign("http://127.0.0.1/verify", "http://127.0.0.1/settle", ["http://127.0.0.1/zk"])),
    ).to.include("the path |/zk| is missing");
  });
});
