/** Made by the build: see src/portal/map/land.ts. */
declare module 'lodestone:land' {
  export const land: string
}
declare module 'lodestone:borders' {
  export const borders: string
}
