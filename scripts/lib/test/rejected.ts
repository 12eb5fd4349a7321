import { expect } from "chai";
import { CommandError } from "../command.ts";

/** Runs `action` and returns its CommandError, which must have this code. */
export async function rejected(code: string, action: () => unknown): Promise<string> {
  try {
    await action();
  } catch (error) {
    expect(error).to.be.instanceOf(CommandError);
    expect((error as CommandError).code).to.equal(code);
    return (error as CommandError).message;
  }
  return expect.fail(`nothing was thrown, expected ${code}`);
}
