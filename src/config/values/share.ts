/** One worker's part of what all have. All parts together are no more, but a worker without any would be of no use. */
export const shareOf = (whole: number, workers: number): number => Math.max(1, Math.floor(whole / workers))
