import type { Texts } from './en.ts'

/** The texts of public pages in French. */
export const fr: Texts = {
  lang: 'fr',
  locale: 'fr',
  errorTitle: 'Erreur : #',

  messages: {
    home: {
      title: 'Linkledger',
      text: 'Ce domaine sert des liens courts. Pour suivre un lien, utilisez son adresse complète.',
    },
    notFound: {
      title: 'Lien introuvable',
      text: 'Il n’y a pas de lien court à cette adresse. Elle contient peut-être une faute de frappe, ou le lien a été supprimé.',
    },
    expired: {
      title: 'Ce lien a expiré',
      text: 'Sa date de fin est passée. Demandez un nouveau lien à la personne qui vous l’a envoyé.',
    },
    loop: {
      title: 'Ce lien ne fonctionne plus',
      text: 'Sa destination est elle-même un lien court et ne peut donc pas être ouverte. Demandez un nouveau lien à la personne qui vous l’a envoyé.',
    },
    methodNotAllowed: {
      title: 'Cette requête n’est pas prise en charge',
      text: 'Ouvrez le lien dans un navigateur.',
    },
    postOnly: {
      title: 'Ce formulaire ne peut pas être ouvert seul',
      text: 'Ouvrez le lien court qui affiche le formulaire et envoyez votre réponse depuis cette page.',
    },
    passwordTooLong: {
      title: 'Ce mot de passe est trop long',
      text: 'Un mot de passe a 1 024 caractères au plus. Revenez en arrière et réessayez.',
    },
    unavailable: {
      title: 'Ce lien ne peut pas être ouvert pour le moment',
      text: 'Le problème vient de notre côté et ne dure en général que quelques secondes. Veuillez réessayer.',
    },
    failed: {
      title: 'Une erreur s’est produite',
      text: 'Le problème vient de notre côté. Réessayez plus tard. S’il persiste, contactez l’exploitant de ce service.',
    },
  },

  anatomy: {
    shortLink: 'Lien court',
    servedBy: 'Cette adresse est gérée par #.',
    about: 'À propos de ce lien',
    privacy: 'Confidentialité',
    imprint: 'Mentions légales',
  },

  password: {
    title: 'Ce lien est protégé',
    text: 'Saisissez le mot de passe que vous avez reçu avec le lien.',
    field: 'Mot de passe',
    submit: 'Continuer',
    wrong: 'Ce mot de passe n’est pas correct. Vérifiez les majuscules et réessayez.',
    tooManyAttempts: {
      one: 'Trop de tentatives. Réessayez dans # minute.',
      other: 'Trop de tentatives. Réessayez dans # minutes.',
    },
  },

  redirecting: {
    leadsTo: 'Ce lien mène à',
    redirectingTo: 'Redirection vers',
    timeLeft: { one: 'Dans # seconde', other: 'Dans # secondes' },
    progress: 'Temps restant avant la redirection',
    continueNow: 'Continuer maintenant',
    continue: 'Continuer',
    stay: 'Rester sur cette page',
    stopped: 'La redirection est arrêtée. Continuez quand vous le souhaitez.',
    notEncrypted: 'Ce site n’est pas chiffré : d’autres peuvent lire et modifier ce que vous y voyez et envoyez.',
  },

  splash: { title: 'Vous allez être redirigé' },

  frame: {
    open: 'Ouvrir directement',
    notFramed: '# ne peut pas être affiché dans cette page.',
  },

  overlay: {
    message: { name: 'Message', action: 'Lire la suite' },
    contact: { name: 'Contact', action: 'Envoyer le message' },
    poll: { name: 'Sondage', action: 'Voter' },
    newsletter: { name: 'Newsletter', action: 'S’abonner' },
    image: { name: 'Image', action: '' },
    coupon: { name: 'Bon de réduction', action: 'Utiliser le bon' },
    fields: { name: 'Nom (facultatif)', email: 'Adresse e-mail', message: 'Message' },
  },

  answer: {
    thanks: 'Merci',
    sent: {
      contact: 'Votre message a été envoyé.',
      poll: 'Votre vote a été compté.',
      newsletter: 'Votre inscription a été envoyée.',
    },
    continueTo: 'Continuer vers #',
    notSent: 'Votre réponse n’a pas été envoyée',
    tryAgain: 'Revenez en arrière et réessayez.',
    problems: {
      name: 'Saisissez votre nom en texte simple, ou laissez le champ vide.',
      email: 'Saisissez une adresse e-mail complète, par exemple ann@example.com.',
      message: 'Écrivez un message avant de l’envoyer.',
      choice: 'Choisissez l’une des réponses.',
    },
    tooLong: 'Chaque champ peut contenir 1 000 caractères au plus.',
    tooMany: {
      one: 'Vous avez envoyé trop de réponses. Réessayez dans # seconde.',
      other: 'Vous avez envoyé trop de réponses. Réessayez dans # secondes.',
    },
  },

  list: {
    empty: 'Cette liste ne contient aucun lien pour le moment.',
    passwordRequired: 'Mot de passe requis',
    newer: 'Plus récents',
    older: 'Plus anciens',
  },
}
