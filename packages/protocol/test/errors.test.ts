import { expect } from "chai";
import { createErrorClass, type ErrorTable, SottoError } from "../src/index.ts";

const TEA_ERRORS = {
  NO_COFFEE: { means: "The pot makes tea only.", exit: "refused", http: 418, remedy: "ask for tea" },
  TOO_HOT: { means: "The tea is too hot to drink." },
} satisfies ErrorTable;

const TeaError = createErrorClass<typeof TEA_ERRORS>("TeaError");
type TeaError = InstanceType<typeof TeaError>;

const CupError = createErrorClass<Pick<typeof TEA_ERRORS, "TOO_HOT">>("CupError");

describe("createErrorClass", () => {
  it("creates a subclass of SottoError with the given name, code, details and cause", () => {
    const cause = new Error("why");
    const error: TeaError = new TeaError("NO_COFFEE", "coffee was asked for", { cups: 2 }, { cause });
    expect(error).to.be.instanceOf(TeaError);
    expect(error).to.be.instanceOf(SottoError);
    expect(error).to.be.instanceOf(Error);
    expect(TeaError).to.have.property("name", "TeaError");
    expect([error.name, error.code, error.message, error.details["cups"], error.cause]).to.deep.equal([
      "TeaError",
      "NO_COFFEE",
      "coffee was asked for",
      2,
      cause,
    ]);
    expect(String(error)).to.equal("TeaError: coffee was asked for");
  });

  it("distinguishes two classes with the same code", () => {
    expect(new CupError("TOO_HOT", "")).not.to.be.instanceOf(TeaError);
  });

  it("creates a class that can be subclassed", () => {
    class Spilled extends TeaError {
      readonly drops: number;
      constructor(drops: number) {
        super("TOO_HOT", `${drops} drops were spilled`);
        this.drops = drops;
      }
    }
    const error = new Spilled(3);
    expect(error).to.be.instanceOf(TeaError);
    expect([error.name, error.code, error.drops]).to.deep.equal(["TeaError", "TOO_HOT", 3]);
  });

  it("creates a class whose codes are checked at compile time", () => {
    // @ts-expect-error NO_SUGAR is not in the table.
    expect(new TeaError("NO_SUGAR", "").code).to.equal("NO_SUGAR");
    // @ts-expect-error NO_COFFEE is not in the other class's table.
    expect(new CupError("NO_COFFEE", "").code).to.equal("NO_COFFEE");
  });
});
