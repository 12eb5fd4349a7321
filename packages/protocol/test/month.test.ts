import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { addMonths, MONTH_GRACE_MS, monthAt, monthEnd, monthStart, monthsAt, parseMonth } from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";

const december = parseMonth("2026-12");
const start = Date.UTC(2026, 11);

describe("months", () => {
  it("begin and end at midnight UTC", () => {
    expect([monthStart(december), monthEnd(december)]).to.deep.equal([start, Date.UTC(2027, 0)]);
    expect([monthAt(start - 1), monthAt(start), monthAt(Date.UTC(2027, 0) - 1)]).to.deep.equal([
      "2026-11",
      "2026-12",
      "2026-12",
    ]);
    expect([addMonths(december, 1), addMonths(december, -12), addMonths(december, 0)]).to.deep.equal([
      "2027-01",
      "2025-12",
      "2026-12",
    ]);
  });

  it("include ten minutes of their neighbours", () => {
    const at = (ms: number) => monthsAt(start + ms);
    expect(at(0)).to.deep.equal(["2026-12", "2026-11"]);
    expect(at(-1)).to.deep.equal(["2026-11", "2026-12"]);
    expect(at(-MONTH_GRACE_MS)).to.deep.equal(["2026-11", "2026-12"]);
    expect(at(-MONTH_GRACE_MS - 1)).to.deep.equal(["2026-11"]);
    expect(at(MONTH_GRACE_MS - 1)).to.deep.equal(["2026-12", "2026-11"]);
    expect(at(MONTH_GRACE_MS)).to.deep.equal(["2026-12"]);
  });

  it("contain every time between start and end, and follow each other without a gap", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(2020, 1), max: Date.UTC(2099, 10) }),
        fc.integer({ min: -1, max: 1 }),
        (ms, n) => {
          const month = monthAt(ms);
          expect(monthStart(month) <= ms && ms < monthEnd(month)).to.equal(true);
          expect(parseMonth(month)).to.equal(month);
          expect(monthEnd(month)).to.equal(monthStart(addMonths(month, 1)));
          expect(addMonths(addMonths(month, n), -n)).to.equal(month);
        },
      ),
      runs(200),
    );
  });

  it("have one form, and are from 2020 to 2099", () => {
    for (const text of [
      "2026-1",
      "2026-13",
      "2026-00",
      "2019-12",
      "2100-01",
      "2026-12-01",
      " 2026-12",
      "２026-12",
      "",
      202612,
      null,
    ])
      expectCode("INVALID_MONTH", () => parseMonth(text), /2020-01 to 2099-12/);
    for (const act of [
      () => monthAt(0),
      () => monthAt(Date.UTC(2100, 0)),
      () => addMonths(parseMonth("2099-12"), 1),
      () => addMonths(parseMonth("2020-01"), -1),
    ])
      expectCode("INVALID_MONTH", act);
    expectCode("INVALID_INTEGER", () => monthAt(Number.NaN));
    expectCode("INVALID_INTEGER", () => addMonths(december, 0.5));
  });
});
