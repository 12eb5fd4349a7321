import { SottoError } from "@sotto/protocol";
import { expect } from "chai";
import { createReadiness, type Need } from "../../src/index.ts";

describe("readiness", () => {
  let [now, asked, closing] = [0, 0, false];
  const there: Need = async () => {
    asked += 1;
    return undefined;
  };
  const of = (needs: Record<string, Need>) =>
    createReadiness({
      needs,
      closing: () => closing,
      translate: (error) =>
        (error as Error).message === "disk full" ? new SottoError("STORE_UNAVAILABLE", "no room") : undefined,
      clock: () => now,
    });
  beforeEach(() => {
    [now, asked, closing] = [0, 0, false];
  });

  it("requires every check, and reports failed ones with the reason", async () => {
    expect(await of({ chain: there, store: there })()).to.deep.equal({
      ready: true,
      checks: { chain: { ok: true }, store: { ok: true } },
    });
    const coded = async () => {
      throw new SottoError("STORE_UNAVAILABLE", "no route to 10.0.0.9");
    };
    const odd = async () => {
      throw new Error("postgres://user:password@10.0.0.9");
    };
    const low = async () => ({ ok: false, code: "RELAYER_BALANCE_LOW" });
    const full = async () => {
      throw new Error("disk full");
    };
    expect(await of({ chain: there, store: coded, budget: full, relayer: low, phone: odd })()).to.deep.equal({
      ready: false,
      cause: "store",
      checks: {
        chain: { ok: true },
        store: { ok: false, code: "STORE_UNAVAILABLE" },
        budget: { ok: false, code: "STORE_UNAVAILABLE" },
        relayer: { ok: false, code: "RELAYER_BALANCE_LOW" },
        phone: { ok: false, code: "UNEXPECTED" },
      },
    });
  });

  it("is evaluated at most once in two seconds", async () => {
    const readiness = of({ chain: there });
    await Promise.all([readiness(), readiness(), readiness()]);
    now = 1_999;
    await readiness();
    expect(asked).to.equal(1);
    now = 2_000;
    await readiness();
    expect(asked).to.equal(2);
  });

  it("fails immediately if the server closes", async () => {
    const readiness = of({ chain: there });
    expect((await readiness()).ready).to.equal(true);
    closing = true;
    expect(await readiness()).to.deep.equal({ ready: false, checks: { chain: { ok: true } } });
  });
});
