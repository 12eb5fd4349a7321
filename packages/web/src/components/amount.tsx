import { formatAmount } from "../lib/amount.ts";
import { Verbatim } from "./verbatim.tsx";

interface Properties {
  /** Base units. */
  readonly value: bigint;
  readonly large?: boolean | undefined;
  /** Shows a sign: "in" for received, "out" for spent. */
  readonly direction?: "in" | "out" | undefined;
}

/** An amount of USDC. */
export function Amount({ value, large = false, direction }: Properties) {
  const sign = direction === "in" ? "+" : direction === "out" ? "\u2212" : "";
  const classes = ["amount", large && "large", direction === "in" && "in"].filter(Boolean).join(" ");
  return (
    <Verbatim className={classes}>
      {sign}
      {formatAmount(value)} <abbr title="US dollar coin, the pool's token">USDC</abbr>
    </Verbatim>
  );
}
