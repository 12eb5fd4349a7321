import { fail } from "@sotto/protocol/extend";

/** The value of a JSON text. @throws SottoError INVALID_ARGUMENT */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail("INVALID_ARGUMENT", "it is not JSON");
  }
}
