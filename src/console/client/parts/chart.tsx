import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { Table, type Column } from './basics';

interface Series {
  name: string;
  values: readonly (number | null)[];
  format: (value: number | null) => string;
  /** The short format, for the axis. */
  tick: (value: number) => string;
}

interface ChartProps {
  title: string;
  /** Times of the points in seconds since 1970, or their names. */
  x: readonly (number | string)[];
  x_name: string;
  formatLabel: (x: number | string) => string;
  series: Series;
  /** The numbers are in a table next to the chart already. */
  hasTable?: boolean;
}

const HEIGHT = 170;

/** Bars over time or names. A table has the numbers too, for readers who cannot see the chart. */
export function Chart({ title, x, x_name, formatLabel, series, hasTable = false }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = box.current!;
    const draw = () => plot(parent, { x, formatLabel, series });
    let drawn = draw();
    // Colors come from the style sheet, which follows the scheme.
    const redraw = () => {
      drawn.destroy();
      drawn = draw();
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    const resized = new ResizeObserver(() => {
      drawn.setSize({ width: parent.clientWidth, height: HEIGHT });
    });
    resized.observe(parent);
    return () => {
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      drawn.destroy();
    };
  }, [x, series]);
  const columns: Column<number>[] = [
    { name: x_name, of: (n) => formatLabel(x[n]!) },
    { name: series.name, of: (n) => series.format(series.values[n] ?? null), number: true },
  ];
  return (
    <figure>
      <div
        class="chart"
        ref={box}
        role="img"
        aria-label={`${title}. The numbers are in the table below.`}
      />
      {!hasTable && (
        <details>
          <summary>As a table</summary>
          <Table
            caption={title}
            columns={columns}
            rows={x.map((_, n) => n)}
            getKey={(n) => n}
            empty="No numbers."
          />
        </details>
      )}
    </figure>
  );
}

type PlotProps = Pick<ChartProps, 'x' | 'formatLabel' | 'series'>;

function plot(parent: HTMLElement, { x, formatLabel, series }: PlotProps): uPlot {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('quiet'),
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  const at = x.map((_, n) => n);
  const label = (n: number | undefined) =>
    n === undefined || x[n] === undefined ? '' : formatLabel(x[n]);
  const options: uPlot.Options = {
    width: parent.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.6, Math.max(x.length - 0.4, 0.6)] },
      y: { range: computeRange },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        space: 70,
        incrs: [1, 2, 5, 10, 15, 30],
        values: (_, ns) => ns.map(label),
      },
      { ...axis, size: 52, values: (_, ys) => ys.map((y) => series.tick(y)) },
    ],
    series: [
      {},
      {
        label: series.name,
        fill: color('accent'),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.7, 60] }),
      },
    ],
  };
  return new uPlot(options, [at, [...series.values]], parent);
}

const computeRange: uPlot.Range.Function = (_, _min, max) => [0, Math.max(max, 5) * 1.1];
