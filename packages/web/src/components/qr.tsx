import { useMemo } from "react";
import { encode } from "uqr";

interface Properties {
  readonly text: string;
  /** Alternative text. */
  readonly label: string;
}

/** A QR code, dark on white in both themes, because scanners expect that. */
export function Qr({ text, label }: Properties) {
  const { size, path } = useMemo(() => {
    const { size, data } = encode(text, { ecc: "M", border: 0 });
    const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
    return { size, path };
  }, [text]);
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} fill="#000" />
    </svg>
  );
}
