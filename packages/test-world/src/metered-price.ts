import type { MeteredRule } from "@sotto/prepaid";
import { metered } from "@sotto/prepaid/server";
import type { Quote } from "@sotto/resource-server";

/** The price of a route whose terms have this rule. */
export const priceOf = ({ cap, grain, base, units }: MeteredRule): Quote =>
  metered({ cap, grain, base, units: Object.fromEntries(units.map(({ name, ...unit }) => [name, unit])) });
