import { median, memory, round } from './tools';

const SAMPLE_MS = 2_000;
/** The share of the load during which caches fill. */
const WARM_UP = 0.2;

interface Point {
  minutes: number;
  mb: number;
}

export function sampleMemory(pids: Record<string, number>) {
  const started = performance.now();
  const points: Record<string, Point[]> = {};
  const sample = () => {
    const minutes = (performance.now() - started) / 60_000;
    for (const [name, pid] of Object.entries(pids))
      (points[name] ??= []).push({ minutes, mb: memory(pid).now_mb });
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  return { points, stop: () => clearInterval(timer) };
}

/** How memory changes after the warm-up, by the line of least squares and by thirds. */
export function memoryTrend(points: readonly Point[]) {
  const warm = points.slice(Math.floor(points.length * WARM_UP));
  const mean = (of: (point: Point) => number) =>
    warm.reduce((sum, point) => sum + of(point), 0) / warm.length;
  const [x, y] = [mean(({ minutes }) => minutes), mean(({ mb }) => mb)];
  const covariance = mean(({ minutes, mb }) => (minutes - x) * (mb - y));
  const variance = mean(({ minutes }) => (minutes - x) ** 2);
  const third = Math.ceil(warm.length / 3);
  return {
    first_mb: median(warm.slice(0, third).map(({ mb }) => mb)),
    last_mb: median(warm.slice(-third).map(({ mb }) => mb)),
    peak_mb: Math.max(...points.map(({ mb }) => mb)),
    mb_a_minute: variance === 0 ? 0 : round(covariance / variance, 1),
  };
}
