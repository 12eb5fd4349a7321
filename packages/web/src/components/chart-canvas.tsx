import { useEffect, useRef } from "react";
import "./valid-language.ts";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartData } from "./chart-data.ts";
import { areWhole, markOf, xRange, yRange } from "./chart-scale.ts";

const HEIGHT = 180;
const FONT = "12px system-ui, sans-serif";
const AXIS_WIDTH = 52;

/** The colour of a custom property in the current theme. */
function colourOf(element: HTMLElement, property: string): string {
  const { color } = element.style;
  element.style.color = `var(${property})`;
  const found = getComputedStyle(element).color;
  element.style.color = color;
  return found;
}

function create(element: HTMLElement, data: ChartData): UPlot {
  const [ink, line] = [colourOf(element, "--ink-soft"), colourOf(element, "--line")];
  const axis = { stroke: ink, font: FONT, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 8, 0, 0],
      scales: {
        x: { range: (plot) => xRange(plot.data[0]) },
        y: { range: (_, min, max) => yRange(data.series, min, max) },
      },
      axes: [
        { ...axis, grid: { show: false } },
        {
          ...axis,
          size: AXIS_WIDTH,
          values: (_, marks) => marks.map((mark) => markOf(mark, areWhole(data.series))),
        },
      ],
      series: [
        {},
        ...data.series.map(({ kind, colour }) => {
          const stroke = colourOf(element, colour);
          return kind === "bars"
            ? { stroke, fill: stroke, paths: UPlot.paths.bars!({ size: [0.7, 24] }), points: { show: false } }
            : { stroke, paths: () => null, points: { show: true, size: 4, fill: stroke } };
        }),
      ],
    },
    valuesOf(data),
    element,
  );
}

/** Zeros are not drawn: a new chain has hardly any other values. */
const valuesOf = ({ times, series }: ChartData): UPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => values.map((value) => (value === 0 ? null : value))),
];

/** A uPlot canvas, redrawn when the theme or the width changes. */
export default function ChartCanvas(data: ChartData) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const kinds = data.series.map(({ kind, colour }) => `${kind} ${colour}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of series needs a new plot.
  useEffect(() => {
    const target = element.current!;
    const draw = () => {
      plot.current?.destroy();
      plot.current = create(target, latest.current);
    };
    draw();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: target.clientWidth, height: HEIGHT }));
    resized.observe(target);
    const theme = matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", draw);
    return () => {
      resized.disconnect();
      theme.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [kinds]);
  useEffect(() => plot.current?.setData(valuesOf(data)), [data]);
  return <div ref={element} className="chart-canvas" />;
}
