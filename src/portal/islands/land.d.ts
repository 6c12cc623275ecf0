/** Made by the build: see src/portal/map/coastline.ts. */
declare module 'lodestone:land' {
  export const coastline: string
}
declare module 'lodestone:borders' {
  export const borders: string
}
